import { Icon } from './icon.tsx'
import type { Edited } from './use-edited.ts'

/** Says that what is typed was typed for an earlier state of the object, and asks what to keep. */
export const EditedNotice = <T,>({ edited }: { edited: Edited<T> }) =>
  edited.isOutdated && (
    <div class="edited" role="status">
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
