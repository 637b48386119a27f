import { useState } from 'preact/hooks'
import { announce } from './announce.ts'
import { Icon } from './icon.tsx'

const SHOWN_MS = 1_500

interface Props {
  /** A text, or how it is read. */
  text: string | (() => string | Promise<string>)
  label: string
  /** The label and what is copied, for screen readers. */
  name: string
}

/** Copies a text; says so, or that the browser refused. */
export function CopyButton({ text, label, name }: Props) {
  const [said, setSaid] = useState('')
  const say = (result: string) => {
    setSaid(result)
    announce(result)
    setTimeout(() => setSaid(''), SHOWN_MS)
  }
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text())
      say('Copied')
    } catch {
      say('The browser refused')
    }
  }
  return (
    <button type="button" class="quiet" aria-label={said || name} onClick={copy}>
      <Icon name="copy" /> {said || label}
    </button>
  )
}
