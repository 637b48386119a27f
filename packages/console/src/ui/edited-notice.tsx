import { useAnnounced } from './announce.ts'
import { Icon } from './icon.tsx'
import type { Edited } from './use-edited.ts'

const ANNOUNCED = 'It was changed elsewhere: load that change, or keep what you typed.'

/** Says that what is typed was typed for an earlier state of the object, and asks what to keep. */
export function EditedNotice<T>({ edited }: { edited: Edited<T> }) {
  useAnnounced(edited.isOutdated ? ANNOUNCED : undefined)
  if (!edited.isOutdated) return null
  return (
    <div class="edited">
      <p class="stale">
        <Icon name="warning" />
        Changed by someone else since you opened it. What you typed is still here.
      </p>
      <div class="actions">
        <button type="button" onClick={edited.loadTheirs}>
          Load theirs
        </button>
        <button type="button" onClick={edited.keepMine}>
          Keep mine
        </button>
      </div>
    </div>
  )
}
