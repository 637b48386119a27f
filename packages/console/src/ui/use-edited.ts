import { ArgumentError } from '@windlass/api-client/errors'
import { useEffect, useState } from 'preact/hooks'
import { isPreconditionFailed } from './feedback.tsx'

/** An object that a form changes, as the form was filled with it. */
export interface Edited<T> {
  base: T
  /** The object as it was read last, or as it was after one's own change until that has been read. */
  stored: T
  /** Differs whenever the fields have to be filled again. */
  fieldsKey: string
  /** Differs after each success, so that the form closes. */
  formKey: number
  /** True: what is typed was typed for an earlier state of the object than the stored one. */
  isOutdated: boolean
  onType(): void
  /** Drops what is typed. */
  loadTheirs(): void
  /** Lets a later request replace the stored state by the typed one. */
  keepMine(): void
  /**
   * Runs a request for what is typed, with the object as it was read just before. Throws an error if someone else has
   * changed it meanwhile.
   */
  whileSame<R>(request: (now: T) => Promise<R>): Promise<R>
  /** The change was stored: fills the fields with the object as it is now. */
  onSaved(): Promise<void>
}

interface Options<T> {
  /** The object as it was read last. */
  stored: T
  /** Equal for states that fill the form equally. */
  textOf: (object: T) => string
  /** Reads the object now. */
  read: () => Promise<T>
  /** Updates `stored`. */
  refresh: () => void
}

const MAX_ATTEMPTS = 3

/** The object after one's own change, while `stored` is still as it was before. */
interface Own<T> {
  before: string
  now: T
}

interface State<T> {
  base: T
  /** Text of the stored state that the user has seen. */
  seen: string
}

/**
 * Keeps what is typed into a form while someone else changes its object. A form into which nothing was typed has
 * the fields of the stored object.
 */
export function useEdited<T>({ textOf, read, refresh, ...last }: Options<T>): Edited<T> {
  const [own, setOwn] = useState<Own<T>>()
  const stored = own && textOf(last.stored) === own.before ? own.now : last.stored
  // Someone else may change the object back to what it was.
  useEffect(() => {
    if (own && textOf(last.stored) !== own.before) setOwn(undefined)
  })
  const [typing, setTyping] = useState<State<T>>()
  const [filled, setFilled] = useState(0)
  const [saved, setSaved] = useState(0)
  const text = textOf(stored)
  const base = typing ? typing.base : stored
  const seen = typing ? typing.seen : text
  const fill = () => {
    setTyping(undefined)
    setFilled(filled + 1)
  }
  return {
    base,
    stored,
    fieldsKey: `${filled} ${textOf(base)}`,
    formKey: saved,
    isOutdated: text !== seen,
    onType: () => setTyping((known) => known ?? { base: stored, seen: text }),
    loadTheirs: fill,
    keepMine: () => setTyping({ base, seen: text }),
    async whileSame(request) {
      for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
        const now = await read()
        if (textOf(now) !== seen) break
        try {
          return await request(now)
        } catch (error) {
          // It was changed after it was read; what the form shows of it may still be the same.
          if (!isPreconditionFailed(error)) throw error
        }
      }
      refresh()
      throw new ArgumentError(
        'Someone else has changed it since you opened it. Choose below whether to load that change or to keep yours.',
      )
    },
    async onSaved() {
      // Otherwise one's own change would look like that of someone else until `stored` follows.
      const now = await read().catch(() => undefined)
      const before = textOf(last.stored)
      setOwn(now && textOf(now) !== before ? { before, now } : undefined)
      fill()
      setSaved(saved + 1)
    },
  }
}
