import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

const SHOWN_MS = 1_500

interface Props {
  /** A text, or how it is read. */
  text: string | (() => string | Promise<string>)
  label: string
}

/** Copies a text; says so, or that the browser refused. */
export function CopyButton({ text, label }: Props) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text())
      setSaid('Copied')
    } catch {
      setSaid('The browser refused')
    }
    setTimeout(() => setSaid(''), SHOWN_MS)
  }
  return (
    <button type="button" class="quiet" onClick={copy} title={label}>
      <Icon name="copy" />
      <span aria-live="polite">{said || label}</span>
    </button>
  )
}
