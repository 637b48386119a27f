import { useEffect, useState } from 'preact/hooks'

interface Disclosure {
  open: boolean
  onToggle: (event: { currentTarget: HTMLDetailsElement }) => void
}

/**
 * Properties of a `details` element that opens when it has something to show, and stays open without it: the next text may be
 * typed there.
 */
export function useDisclosure(isNeeded: boolean): Disclosure {
  const [open, setOpen] = useState(isNeeded)
  useEffect(() => {
    if (isNeeded) setOpen(true)
  }, [isNeeded])
  return { open, onToggle: ({ currentTarget }) => setOpen(currentTarget.open) }
}
