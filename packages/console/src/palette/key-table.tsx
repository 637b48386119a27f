import { useState } from 'preact/hooks'
import { DataTable } from '../ui/data-table.tsx'
import { KEYS } from './keys.ts'
import { hasSingleKeys, keepSingleKeys } from './single-keys.ts'

/** The keys of the console. */
export const KeyTable = () => (
  <DataTable label="Keys" heads={['Key', 'Effect']}>
    {KEYS.map(([keys, effect]) => (
      <tr key={keys}>
        <td>
          <kbd>{keys}</kbd>
        </td>
        <td>{effect}</td>
      </tr>
    ))}
  </DataTable>
)

/** Turns the keys of one letter off, which programs for speech input press by accident. */
export function KeySwitch() {
  const [isOn, setOn] = useState(hasSingleKeys)
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => {
          keepSingleKeys(event.currentTarget.checked)
          setOn(hasSingleKeys())
        }}
      />{' '}
      Keys without Ctrl
    </label>
  )
}
