; Raises and catches for ever, through a frame with cleanup, to be killed at any instant of it.

target triple = "armv7-unknown-linux-gnueabihf"

%text = type { ptr, i32 }

@tag = private constant [3 x i8] c"i:n"
@tag_at = private constant %text { ptr @tag, i32 3 }

declare void @rpc_send_async(i32, ptr, ptr) nounwind
declare void @__artiq_resume() noreturn
declare void @__artiq_end_catch()
declare void @test_exception_id_sync(i32)
declare i32 @__artiq_personality(...)

define internal void @clean(i32 %id) noinline personality ptr @__artiq_personality {
  invoke void @test_exception_id_sync(i32 %id) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } cleanup
  call void @__artiq_resume()
  unreachable
}

define void @__modinit__(ptr %unused) personality ptr @__artiq_personality {
  %slot = alloca i32
  store i32 12, ptr %slot
  %data = alloca ptr
  store ptr %slot, ptr %data
  call void @rpc_send_async(i32 100, ptr @tag_at, ptr %data)
  br label %loop
loop:
  invoke void @clean(i32 10) to label %loop unwind label %pad
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  call void @__artiq_end_catch()
  br label %loop
}
