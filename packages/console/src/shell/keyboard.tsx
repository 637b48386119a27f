import { Fragment, type FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { navigate } from '../location/location.ts'
import { SCREEN_KEYS } from '../palette/keys.ts'
import { isPaletteKey } from '../palette/palette-key.ts'
import { hasSingleKeys } from '../palette/single-keys.ts'
import { loadAgain } from './load-again.ts'

/** Time for the key after `g`. */
const SECOND_KEY_MS = 1_500

type Opened = 'palette' | 'keys' | undefined

interface Dialogs {
  Palette: FunctionComponent<{ onClose: () => void; onKeys: () => void }>
  KeyDialog: FunctionComponent<{ onClose: () => void }>
}

/** Read when a dialog is first opened. */
async function loadDialogs(): Promise<Dialogs> {
  const [{ Palette }, { KeyDialog }] = await Promise.all([
    import('../palette/palette.tsx'),
    import('../palette/key-dialog.tsx'),
  ])
  return { Palette, KeyDialog }
}

/** The keys of every screen, and the dialogs that they open. */
export function Keyboard() {
  const [opened, setOpened] = useState<Opened>()
  const [dialogs, setDialogs] = useState<Dialogs>()
  useKeys(setOpened)
  useEffect(() => {
    if (!opened || dialogs) return
    const closed = new AbortController()
    loadAgain(loadDialogs, closed.signal).then(setDialogs, () => setOpened(undefined))
    return () => closed.abort()
  }, [opened, dialogs])
  const close = () => setOpened(undefined)
  return (
    <Fragment>
      <button type="button" class="quiet palette-button" onClick={() => setOpened('palette')}>
        Go to … <kbd>Ctrl K</kbd>
      </button>
      {dialogs && opened === 'palette' && (
        <dialogs.Palette onClose={close} onKeys={() => setOpened('keys')} />
      )}
      {dialogs && opened === 'keys' && <dialogs.KeyDialog onClose={close} />}
    </Fragment>
  )
}

/** A checkbox takes no letters. */
const TEXT = 'input:not([type="checkbox"]), textarea, select, dialog'

/** True where a key is text. A dialog that was closed may keep the focus until it is removed. */
const isTyping = (target: EventTarget | null) =>
  target instanceof Element &&
  target.closest('dialog:not([open])') === null &&
  target.closest(TEXT) !== null

/** True for a key alone, outside of texts, where keys alone are not turned off. */
const isSingleKey = ({ ctrlKey, metaKey, altKey, target }: KeyboardEvent) =>
  !(ctrlKey || metaKey || altKey || isTyping(target)) && hasSingleKeys()

type Open = (what: Opened) => void

/** The effect of a key, if it has one; `isSecond` after `g`. */
function effectOf(event: KeyboardEvent, isSecond: boolean, open: Open): (() => void) | undefined {
  if (isPaletteKey(event)) return () => open('palette')
  if (!isSingleKey(event)) return undefined
  const { key } = event
  const to = isSecond ? SCREEN_KEYS.find(([letter]) => letter === key)?.[1] : undefined
  if (to !== undefined) return () => navigate(to)
  if (key === '?') return () => open('keys')
  return key === '/' ? focusFilter : undefined
}

function useKeys(open: Open): void {
  useEffect(() => {
    let wentAt = Number.NEGATIVE_INFINITY
    const onKey = (event: KeyboardEvent) => {
      const { key, timeStamp } = event
      const effect = effectOf(event, timeStamp - wentAt < SECOND_KEY_MS, open)
      wentAt = key === 'g' && isSingleKey(event) ? timeStamp : Number.NEGATIVE_INFINITY
      if (!effect) return
      event.preventDefault()
      effect()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [open])
}

const focusFilter = () =>
  document.querySelector<HTMLInputElement>('#main input[type="search"]')?.focus()
