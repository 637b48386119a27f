import { useEffect, useState } from 'preact/hooks'
import { signOut, useMe } from '../api/me.ts'
import { serverNow } from '../api/server-clock.ts'
import { useQuery } from '../api/use-query.ts'
import { listWorkflows } from '../api/workflows.ts'
import { navigate } from '../location/location.ts'
import { chooseTheme, THEMES } from '../shell/theme.ts'
import { ModalDialog } from '../ui/modal-dialog.tsx'
import { entriesFor, type PaletteEntry } from './palette-entries.ts'
import { isPaletteKey } from './palette-key.ts'

const LIST = 'palette-list'
const optionId = (index: number) => `palette-${index}`

interface Props {
  onClose: () => void
  /** Opens the list of the keys. */
  onKeys: () => void
}

/** Finds screens, workflows, executions and actions by what is typed. */
export function Palette({ onClose, onKeys }: Props) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const workflows = useQuery('workflows', listWorkflows)
  const actions = useActions(onKeys)
  const entries = entriesFor(text, { workflows: workflows.data ?? [], actions, now: serverNow() })
  const at = Math.min(chosen, entries.length - 1)
  useEffect(() => {
    document.getElementById(optionId(at))?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const open = (entry: PaletteEntry | undefined) => {
    if (!entry) return
    onClose()
    if (typeof entry.to === 'string') navigate(entry.to)
    else entry.to()
  }
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setChosen((at + step + entries.length) % entries.length)
    else if (event.key === 'Enter') open(entries[at])
    else if (isPaletteKey(event)) onClose()
    else return
    event.preventDefault()
  }
  return (
    <ModalDialog label="Palette" class="palette" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Screen, workflow, execution or action"
        aria-expanded="true"
        aria-controls={LIST}
        aria-activedescendant={entries.length > 0 ? optionId(at) : undefined}
        autoComplete="off"
        spellcheck={false}
        placeholder="Screen, workflow, execution or action"
        value={text}
        onKeyDown={onKey}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
      />
      <div role="listbox" id={LIST} aria-label="Results">
        {entries.map((entry, i) => (
          <div
            key={`${entry.kind} ${entry.label}`}
            id={optionId(i)}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            onClick={() => open(entry)}
            onKeyDown={onKey}
          >
            <bdi>{entry.label}</bdi> <span class="faint">{entry.kind}</span>
          </div>
        ))}
      </div>
    </ModalDialog>
  )
}

function useActions(onKeys: () => void): PaletteEntry[] {
  const { data } = useMe()
  const themes = THEMES.map((theme) => ({
    kind: 'action',
    label: `Theme: ${theme}`,
    to: () => chooseTheme(theme),
  }))
  return [
    { kind: 'action', label: 'List the keys', to: onKeys },
    ...themes,
    ...(data?.features.authentication
      ? [{ kind: 'action', label: 'Sign out', to: () => void signOut() }]
      : []),
  ]
}
