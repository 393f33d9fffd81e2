; Exceptions as the reference compiler makes them, one case for each answer of the host. A number to service 100 for each step.
;  0  fault within try and finally      1  fault in a handler           2  finally that raises, caught further out
;  3  two try blocks on one landing pad 4  catch by _Unwind_Resume      5  handlers of two functions, the inner one left
;  6  resume with nothing in flight     7  callee-saved registers      8  eleven exceptions at once

target triple = "armv7-unknown-linux-gnueabihf"

%text = type { ptr, i32 }
%exception = type { i32, %text, i32, i32, %text, %text, i64, i64, i64 }

@name = private constant [2 x i8] c"ab"
@tag = private constant [3 x i8] c"i:n"
@tag_at = private constant %text { ptr @tag, i32 3 }
@ask_tag = private constant [2 x i8] c":i"
@ask_at = private constant %text { ptr @ask_tag, i32 2 }
@index_error = private constant i32 10
@value_error = private constant i32 18
@zero_error = private constant i32 19

declare void @rpc_send_async(i32, ptr, ptr) nounwind
declare void @rpc_send(i32, ptr, ptr) nounwind
declare i32 @rpc_recv(ptr)
declare void @__artiq_raise(ptr) noreturn
declare void @__artiq_resume() noreturn
declare void @__artiq_end_catch()
declare void @_Unwind_Resume(ptr) noreturn
declare i32 @__artiq_personality(...)

define internal void @mark(i32 %value) nounwind noinline {
  %slot = alloca i32
  store i32 %value, ptr %slot
  %data = alloca ptr
  store ptr %slot, ptr %data
  call void @rpc_send_async(i32 100, ptr @tag_at, ptr %data)
  ret void
}

define internal void @raise(i32 %id) noinline personality ptr @__artiq_personality {
  %record = alloca %exception, align 8
  call void @llvm.memset.p0.i32(ptr %record, i8 0, i32 64, i1 false)
  store i32 %id, ptr %record
  %m = getelementptr %exception, ptr %record, i32 0, i32 5
  store %text { ptr @name, i32 2 }, ptr %m
  call void @__artiq_raise(ptr %record)
  unreachable
}
declare void @llvm.memset.p0.i32(ptr, i8, i32, i1)

define internal void @bad() noinline personality ptr @__artiq_personality {
  store volatile i32 1, ptr inttoptr (i32 -268435456 to ptr)
  ret void
}

; try: (try: bad() finally: mark(1)) except: mark(2)
define internal void @fault_in_try() noinline personality ptr @__artiq_personality {
  invoke void @bad() to label %done unwind label %inner
done:
  ret void
inner:
  %caught = landingpad { ptr, ptr } cleanup catch ptr null
  call void @mark(i32 1)
  call void @mark(i32 2)
  call void @__artiq_end_catch()
  ret void
}

; try: raise 10 except: mark(3); bad()
define internal void @fault_in_handler() noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 10) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  call void @mark(i32 3)
  call void @bad()
  ret void
}

; try: raise 10 finally: mark(4); raise 18
define internal void @finally_raises() noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 10) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } cleanup
  call void @mark(i32 4)
  call void @raise(i32 18)
  ret void
}

; try: finally_raises() except: mark(its id); and nothing is left in flight: the next one is the only one
define internal void @caught_further_out() noinline personality ptr @__artiq_personality {
  invoke void @finally_raises() to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  %record = extractvalue { ptr, ptr } %caught, 1
  %id = load i32, ptr %record
  call void @mark(i32 %id)
  call void @__artiq_end_catch()
  call void @raise(i32 19)
  ret void
}

; try: (try: raise id except IndexError: mark(5)) except ValueError: mark(6) except ZeroDivisionError: mark(7)
define internal void @shared(i32 %id) noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 %id) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr @index_error catch ptr @value_error catch ptr @zero_error
  %record = extractvalue { ptr, ptr } %caught, 1
  %actual = load i32, ptr %record
  switch i32 %actual, label %zero [ i32 10, label %index
                                    i32 18, label %value ]
index:
  call void @mark(i32 5)
  call void @__artiq_end_catch()
  ret void
value:
  call void @mark(i32 6)
  call void @__artiq_end_catch()
  ret void
zero:
  call void @mark(i32 7)
  call void @__artiq_end_catch()
  ret void
}

define internal void @cleanup_by_the_other_name() noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 18) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } cleanup
  %object = extractvalue { ptr, ptr } %caught, 0
  call void @mark(i32 8)
  call void @_Unwind_Resume(ptr %object)
  unreachable
}

define internal void @catch_it() noinline personality ptr @__artiq_personality {
  invoke void @cleanup_by_the_other_name() to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr @value_error
  call void @mark(i32 9)
  call void @__artiq_end_catch()
  ret void
}

; try: raise 10 except: raise 18
define internal void @raises_in_handler() noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 10) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  call void @raise(i32 18)
  ret void
}

; twenty times: try: raises_in_handler() except: mark(number)
define internal void @abandoned() noinline personality ptr @__artiq_personality {
entry:
  br label %loop
loop:
  %number = phi i32 [ 0, %entry ], [ %next, %caught ]
  invoke void @raises_in_handler() to label %caught unwind label %pad
pad:
  %landed = landingpad { ptr, ptr } catch ptr null
  call void @mark(i32 %number)
  call void @__artiq_end_catch()
  br label %caught
caught:
  %next = add i32 %number, 1
  %more = icmp slt i32 %next, 20
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Values in every register that calls preserve, across a raise whose frames use them all.
define internal void @clobber() noinline personality ptr @__artiq_personality {
  call void asm sideeffect "", "~{r4},~{r5},~{r6},~{r7},~{r8},~{r9},~{r10},~{r11},~{d8},~{d9},~{d10},~{d11},~{d12},~{d13},~{d14},~{d15}"()
  call void asm sideeffect "mov r4, #0\0A mov r5, r4\0A mov r6, r4\0A mov r7, r4\0A mov r8, r4\0A mov r9, r4\0A mov r10, r4\0A vmov d8, r4, r4\0A vmov d15, r4, r4", "~{r4},~{r5},~{r6},~{r7},~{r8},~{r9},~{r10},~{d8},~{d15}"()
  call void @raise(i32 10)
  ret void
}

define internal void @registers(i32 %seed) noinline personality ptr @__artiq_personality {
  %a = mul i32 %seed, 3
  %b = add i32 %a, 100
  %c = xor i32 %b, 77
  %d = sub i32 %c, %seed
  %e = mul i32 %d, 5
  %f = add i32 %e, %a
  %x = sitofp i32 %f to double
  %y = fmul double %x, 1.5
  invoke void @clobber() to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  call void @__artiq_end_catch()
  call void @mark(i32 %a)
  call void @mark(i32 %b)
  call void @mark(i32 %c)
  call void @mark(i32 %d)
  call void @mark(i32 %e)
  call void @mark(i32 %f)
  %whole = fptosi double %y to i32
  call void @mark(i32 %whole)
  %again = fptosi double %x to i32
  call void @mark(i32 %again)
  ret void
}

define internal void @nested(i32 %depth) noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 10) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  %last = icmp eq i32 %depth, 1
  br i1 %last, label %end, label %deeper
deeper:
  %less = sub i32 %depth, 1
  call void @nested(i32 %less)
  br label %end
end:
  call void @mark(i32 %depth)
  call void @__artiq_end_catch()
  ret void
}

define void @__modinit__(ptr %unused) personality ptr @__artiq_personality {
  %answer = alloca i32
  call void @rpc_send(i32 101, ptr @ask_at, ptr null)
  %size = call i32 @rpc_recv(ptr %answer)
  %what = load i32, ptr %answer
  switch i32 %what, label %end [ i32 0, label %case0
                                 i32 1, label %case1
                                 i32 2, label %case2
                                 i32 3, label %case3
                                 i32 4, label %case4
                                 i32 5, label %case5
                                 i32 6, label %case6
                                 i32 7, label %case7
                                 i32 8, label %case8 ]
case0:
  call void @fault_in_try()
  br label %end
case1:
  call void @fault_in_handler()
  br label %end
case2:
  call void @caught_further_out()
  br label %end
case3:
  call void @shared(i32 10)
  call void @shared(i32 18)
  call void @shared(i32 19)
  call void @shared(i32 20)
  br label %end
case4:
  call void @catch_it()
  br label %end
case5:
  call void @abandoned()
  call void @raise(i32 19)
  br label %end
case6:
  call void @__artiq_resume()
  br label %end
case7:
  call void @registers(i32 1234)
  br label %end
case8:
  call void @nested(i32 10)
  call void @nested(i32 11)
  br label %end
end:
  ret void
}
