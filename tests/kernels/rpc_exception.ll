; Calls the host (service 7, "i:i"), catches what it raises, reports the id to service 100, then lets it go on: a bare raise.

target triple = "armv7-unknown-linux-gnueabihf"

%text = type { ptr, i32 }

@tag = private constant [3 x i8] c"i:i"
@tag_at = private constant %text { ptr @tag, i32 3 }
@mark_tag = private constant [3 x i8] c"i:n"
@mark_tag_at = private constant %text { ptr @mark_tag, i32 3 }

declare void @rpc_send(i32, ptr, ptr) nounwind
declare void @rpc_send_async(i32, ptr, ptr) nounwind
declare i32 @rpc_recv(ptr)
declare void @__artiq_resume() noreturn
declare i32 @__artiq_personality(...)

define void @__modinit__(ptr %unused) personality ptr @__artiq_personality {
  %value = alloca i32
  %data = alloca ptr
  store i32 3, ptr %value
  store ptr %value, ptr %data
  call void @rpc_send(i32 7, ptr @tag_at, ptr %data)
  %size = invoke i32 @rpc_recv(ptr %value) to label %done unwind label %pad
done:
  call void @rpc_send_async(i32 100, ptr @mark_tag_at, ptr %data)
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  %record = extractvalue { ptr, ptr } %caught, 1
  store ptr %record, ptr %data
  call void @rpc_send_async(i32 100, ptr @mark_tag_at, ptr %data)
  call void @__artiq_resume()
  unreachable
}
