import { useRefusal } from '../api/permissions.ts'
import { type ScheduleRow, switchSchedule } from '../api/schedules.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { useAct } from '../ui/use-act.ts'

/** The permission to change a schedule. */
export const managing = (row: Pick<ScheduleRow, 'workflow_namespace' | 'workflow_name'>) =>
  `schedule:${row.workflow_namespace}:${row.workflow_name}:manage`

/** Pauses a schedule, or resumes one that is paused. */
export function ScheduleSwitch({ row, onChange }: { row: ScheduleRow; onChange: () => void }) {
  const { isBusy, failure, act } = useAct()
  const refusal = useRefusal(managing(row))
  const isPaused = row.status === 'paused'
  return (
    <>
      <button
        type="button"
        disabled={isBusy || refusal !== undefined}
        title={refusal}
        onClick={() =>
          void act(() => switchSchedule(row.id, isPaused ? 'resume' : 'pause')).finally(onChange)
        }
        aria-label={`${isPaused ? 'Resume' : 'Pause'} ${row.name}`}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <Refusal text={refusal} />
      <FailureText text={failure} />
    </>
  )
}
