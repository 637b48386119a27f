const KEY = 'windlass-single-keys'

/** True unless keys without Ctrl were turned off, which some speech input needs. */
export function hasSingleKeys(): boolean {
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
  } catch {
    // The keys stay on.
  }
}
