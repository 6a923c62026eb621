// SPDX-License-Identifier: Apache-2.0
#include "core/profile/steps.h"

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/profile/mark_records.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {
namespace {

using profile::StepForm;

struct TrainingStep {
    Mutex mutex;
    std::uint64_t number CANOPY_GUARDED_BY(mutex) = 0;
    bool started CANOPY_GUARDED_BY(mutex) = false;

    void recycle() noexcept {
        MutexLock guard(mutex);
        number = 0;
        started = false;
    }
};

struct Steps {
    HandleTable<TrainingStep> table{HandleKind::step};
};

HandleTable<TrainingStep>& steps() { return process_state<Steps>().table; }

// While nobody asks for steps, the stream is checked and gets no task.
Status note_on_stream(const void* stream, StepForm form, std::uint16_t tag, std::uint64_t number, std::uint64_t model) {
    if (!record::wants(record::steps)) return check_stream(stream);
    return step_on_stream(stream, form, tag, number, model);
}

}  // namespace

Result<Handle> create_step() {
    const Handle handle = steps().open([](TrainingStep&, Handle) {});
    if (handle == 0) return fail(code::bad_alloc, "too many step infos");
    return handle;
}

void destroy_step(const void* step) noexcept { steps().close(handle_of(step)); }

Status note_step(const void* handle, StepForm form, const void* stream) {
    if (handle == nullptr) return fail_null("stepInfo");
    const Pin<TrainingStep> step = steps().pin(handle_of(handle));
    if (!step) return fail(code::invalid_parameter, "stepInfo {} is not a step info", handle);
    MutexLock guard(step->mutex);
    const bool starts = form == StepForm::start;
    if (step->started == starts)
        return fail(code::invalid_parameter, "step {} {}", step->number,
                    starts ? "has started already" : "has not started");
    const std::uint64_t number = step->number + (starts ? 1 : 0);
    CANOPY_TRY(note_on_stream(stream, form, 0, number, 0));
    step->number = number;
    step->started = starts;
    return {};
}

Status trace_point(const TracePoint& point, const void* stream) {
    return note_on_stream(stream, StepForm::trace, point.tag, point.number, point.model);
}

}  // namespace canopy
