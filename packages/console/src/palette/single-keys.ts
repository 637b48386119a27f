const KEY = 'windlass-single-keys'

/** The choice, where the browser forbids storage: it lasts until the page is left. */
let unkept: boolean | undefined

/** True unless keys without Ctrl were turned off, which some speech input needs. */
export function hasSingleKeys(): boolean {
  if (unkept !== undefined) return unkept
  try {
    return localStorage.getItem(KEY) !== 'off'
  } catch {
    return true
  }
}

/** Keeps the choice where the browser allows it. */
export function keepSingleKeys(isOn: boolean): void {
  try {
    localStorage.setItem(KEY, isOn ? 'on' : 'off')
    unkept = undefined
  } catch {
    unkept = isOn
  }
}
