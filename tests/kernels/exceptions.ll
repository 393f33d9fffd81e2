; Raising, catching, finally, raising within handlers: one number to service 100 for each step that must happen.
; Ends by an exception that nothing catches, through two frames with cleanup code.

target triple = "armv7-unknown-linux-gnueabihf"

%text = type { ptr, i32 }
%exception = type { i32, %text, i32, i32, %text, %text, i64, i64, i64 }

@file = private constant [7 x i8] c"test.py"
@function = private constant [4 x i8] c"work"
@message = private constant [12 x i8] c"values {0} {"
@message2 = private constant [5 x i8] c"again"
@tag = private constant [3 x i8] c"i:n"
@tag_at = private constant %text { ptr @tag, i32 3 }
@index_error = private constant i32 10
@value_error = private constant i32 18
@zero_error = private constant i32 19

declare void @rpc_send_async(i32, ptr, ptr) nounwind
declare void @__artiq_raise(ptr) noreturn
declare void @__artiq_resume() noreturn
declare void @__artiq_end_catch()
declare void @test_exception_id_sync(i32)
declare i32 @__artiq_personality(...)

define internal void @mark(i32 %value) nounwind noinline {
  %slot = alloca i32
  store i32 %value, ptr %slot
  %data = alloca ptr
  store ptr %slot, ptr %data
  call void @rpc_send_async(i32 100, ptr @tag_at, ptr %data)
  ret void
}

; Raises id with the parameters (id, -1, 1 << 40).
define internal void @raise(i32 %id) noinline personality ptr @__artiq_personality {
  %record = alloca %exception, align 8
  %wide = sext i32 %id to i64
  store i32 %id, ptr %record
  %f = getelementptr %exception, ptr %record, i32 0, i32 1
  store %text { ptr @file, i32 7 }, ptr %f
  %l = getelementptr %exception, ptr %record, i32 0, i32 2
  store i32 42, ptr %l
  %c = getelementptr %exception, ptr %record, i32 0, i32 3
  store i32 4, ptr %c
  %n = getelementptr %exception, ptr %record, i32 0, i32 4
  store %text { ptr @function, i32 4 }, ptr %n
  %m = getelementptr %exception, ptr %record, i32 0, i32 5
  store %text { ptr @message, i32 10 }, ptr %m
  %p0 = getelementptr %exception, ptr %record, i32 0, i32 6
  store i64 %wide, ptr %p0
  %p1 = getelementptr %exception, ptr %record, i32 0, i32 7
  store i64 -1, ptr %p1
  %p2 = getelementptr %exception, ptr %record, i32 0, i32 8
  store i64 1099511627776, ptr %p2
  call void @__artiq_raise(ptr %record)
  unreachable
}

; try: raise id; except IndexError: 1; except ValueError: 2 (only these). Marks before and after.
define internal i32 @select(i32 %id) noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 %id) to label %none unwind label %pad
none:
  ret i32 0
pad:
  %caught = landingpad { ptr, ptr } catch ptr @index_error catch ptr @value_error
  %record = extractvalue { ptr, ptr } %caught, 1
  %actual = load i32, ptr %record
  %is_index = icmp eq i32 %actual, 10
  br i1 %is_index, label %index, label %value
index:
  call void @__artiq_end_catch()
  ret i32 1
value:
  call void @__artiq_end_catch()
  ret i32 2
}

; try: select(id) finally: mark(number)
define internal void @with_finally(i32 %id, i32 %number) noinline personality ptr @__artiq_personality {
  %result = invoke i32 @select(i32 %id) to label %done unwind label %pad
done:
  call void @mark(i32 %result)
  call void @mark(i32 %number)
  ret void
pad:
  %caught = landingpad { ptr, ptr } cleanup
  call void @mark(i32 %number)
  call void @__artiq_resume()
  unreachable
}

; try: with_finally(id, number) except: mark(id of the exception)
define internal void @catch_all(i32 %id, i32 %number) noinline personality ptr @__artiq_personality {
  invoke void @with_finally(i32 %id, i32 %number) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  %record = extractvalue { ptr, ptr } %caught, 1
  %actual = load i32, ptr %record
  call void @mark(i32 %actual)
  call void @__artiq_end_catch()
  ret void
}

; try: raise 10 except: (try: raise 18 except: mark 500; end) mark 501; raise the first one again
define internal void @nested() noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 10) to label %done unwind label %outer
done:
  ret void
outer:
  %caught = landingpad { ptr, ptr } catch ptr null
  %record = extractvalue { ptr, ptr } %caught, 1
  invoke void @raise(i32 18) to label %done unwind label %inner
inner:
  %second = landingpad { ptr, ptr } catch ptr null
  call void @mark(i32 500)
  call void @__artiq_end_catch()
  %still = load i32, ptr %record
  call void @mark(i32 %still)
  call void @__artiq_raise(ptr %record)
  unreachable
}

define internal void @catch_nested() noinline personality ptr @__artiq_personality {
  invoke void @nested() to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  call void @mark(i32 502)
  call void @__artiq_end_catch()
  ret void
}

; Catches what the firmware raises.
define internal void @firmware(i32 %id) noinline personality ptr @__artiq_personality {
  invoke void @test_exception_id_sync(i32 %id) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  %record = extractvalue { ptr, ptr } %caught, 1
  %actual = load i32, ptr %record
  call void @mark(i32 %actual)
  call void @__artiq_end_catch()
  ret void
}

; raise 19 in a handler of 10: both are reported.
define internal void @chain() noinline personality ptr @__artiq_personality {
  invoke void @raise(i32 10) to label %done unwind label %pad
done:
  ret void
pad:
  %caught = landingpad { ptr, ptr } catch ptr null
  invoke void @with_finally(i32 19, i32 601) to label %done unwind label %end
end:
  %second = landingpad { ptr, ptr } cleanup
  call void @mark(i32 602)
  call void @__artiq_resume()
  unreachable
}

define void @__modinit__(ptr %unused) personality ptr @__artiq_personality {
  call void @catch_all(i32 10, i32 101)
  call void @catch_all(i32 18, i32 102)
  call void @catch_all(i32 19, i32 103)
  call void @catch_nested()
  call void @firmware(i32 16)
  call void @chain()
  ret void
}
