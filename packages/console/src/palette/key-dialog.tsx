import { ModalDialog } from '../ui/modal-dialog.tsx'
import { KeyTable } from './key-table.tsx'

/** The keys of the console, over any screen. */
export const KeyDialog = ({ onClose }: { onClose: () => void }) => (
  <ModalDialog label="Keys" class="key-dialog" onClose={onClose}>
    <h1>Keys</h1>
    <KeyTable />
    <div class="actions">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  </ModalDialog>
)
