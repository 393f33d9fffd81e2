/* Calls any linear algebra function with matrices from the host, and reports the matrices afterwards. */
#include "kernel.h"

typedef struct { uint32_t dims; uint32_t *shape; double *data; } matrix;
typedef struct { int32_t *elements; uint32_t length; } integers;
typedef struct { double *elements; uint32_t length; } doubles;

static void *const table[] = {
    np_linalg_cholesky, np_linalg_inv, np_linalg_pinv, np_linalg_det, np_linalg_qr, np_linalg_svd,
    np_linalg_matrix_power, sp_linalg_lu, sp_linalg_schur, sp_linalg_hessenberg, kairos_linalg_solve,
};

#define WORDS 3 /* per argument: number of dimensions, lengths; or -1 and a number that is passed unchanged */

/* Requests a function, its arguments, and the concatenated elements of all its matrices with service 1; replies with the
   resulting elements with service 2. A negative function ends the kernel. */
static __attribute__((noinline)) int step(void)
{
    static const slice question = TEXT("n:t\x03ililf"), answer = TEXT("lf:n");
    struct { int32_t place; integers *words; doubles *data; } task;
    void *asked[] = {0};
    rpc_send(1, &question, asked);
    uint32_t size = rpc_recv(&task);
    while (size != 0)
        size = rpc_recv(__builtin_alloca_with_align(size, 64));
    if (task.place < 0)
        return 0;
    void *arguments[4] = {0};
    matrix matrices[4];
    double *data = task.data->elements;
    for (uint32_t i = 0; i < task.words->length / WORDS; i++) {
        int32_t *words = task.words->elements + WORDS * i;
        if (words[0] < 0) {
            arguments[i] = (void *)words[1];
            continue;
        }
        matrices[i] = (matrix){words[0], (uint32_t *)words + 1, data};
        arguments[i] = &matrices[i];
        data += words[1] * (words[0] > 1 ? words[2] : 1);
    }
    void (*function)(void *, void *, void *, void *) = table[task.place];
    function(arguments[0], arguments[1], arguments[2], arguments[3]);
    void *results[] = {&task.data};
    rpc_send_async(2, &answer, results);
    return 1;
}

void __modinit__(void *unused)
{
    while (step())
        ;
}
