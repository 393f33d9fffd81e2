; Plain pointers into another board's memory. Each step asks the host for an address there, 0 at the end: loads the word, stores it
; plus one, and loads that, with ordinary instructions in a function of its own; a number to service 100 for each load.
; What fails is caught by the caller: -1, and the address + 7, which it has kept in a register.

target triple = "armv7-unknown-linux-gnueabihf"

%text = type { ptr, i32 }

@tag = private constant [3 x i8] c"i:n"
@tag_at = private constant %text { ptr @tag, i32 3 }
@ask_tag = private constant [2 x i8] c":i"
@ask_at = private constant %text { ptr @ask_tag, i32 2 }

declare void @rpc_send_async(i32, ptr, ptr) nounwind
declare void @rpc_send(i32, ptr, ptr) nounwind
declare i32 @rpc_recv(ptr)
declare ptr @remote_pointer(i32, i32)
declare void @__artiq_end_catch()
declare i32 @__artiq_personality(...)

define internal void @mark(i32 %value) nounwind noinline {
  %slot = alloca i32
  store i32 %value, ptr %slot
  %data = alloca ptr
  store ptr %slot, ptr %data
  call void @rpc_send_async(i32 100, ptr @tag_at, ptr %data)
  ret void
}

define internal i32 @ask() noinline {
  %answer = alloca i32
  call void @rpc_send(i32 101, ptr @ask_at, ptr null)
  %ignored = call i32 @rpc_recv(ptr %answer)
  %value = load i32, ptr %answer
  ret i32 %value
}

define internal i32 @touch(ptr %place) noinline personality ptr @__artiq_personality {
  %first = load volatile i32, ptr %place
  call void @mark(i32 %first)
  %more = add i32 %first, 1
  store volatile i32 %more, ptr %place
  call void asm sideeffect "dsb", "~{memory}"()
  %second = load volatile i32, ptr %place
  ret i32 %second
}

define internal void @step(i32 %address) noinline personality ptr @__artiq_personality {
  %place = call ptr @remote_pointer(i32 1, i32 %address)
  %kept = add i32 %address, 7
  %value = invoke i32 @touch(ptr %place) to label %done unwind label %inner
done:
  call void @mark(i32 %value)
  ret void
inner:
  %caught = landingpad { ptr, ptr } cleanup catch ptr null
  call void @mark(i32 -1)
  call void @mark(i32 %kept)
  call void @__artiq_end_catch()
  ret void
}

define void @__modinit__(ptr %unused) personality ptr @__artiq_personality {
  br label %next
next:
  %address = call i32 @ask()
  %end = icmp eq i32 %address, 0
  br i1 %end, label %done, label %more
more:
  call void @step(i32 %address)
  br label %next
done:
  ret void
}
