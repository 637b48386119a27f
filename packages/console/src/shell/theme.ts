const KEY = 'windlass-theme'
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** Sent to the window when another theme was chosen. */
export const THEME_CHANGED = 'console:theme'

/** The choice, where the browser forbids storage: it lasts until the page is left. */
let unkept: Theme | undefined

/** The last choice; `system` without one. */
export function keptTheme(): Theme {
  if (unkept !== undefined) return unkept
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}

/** Shows a theme, and keeps the choice where the browser allows it. */
export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme)
    unkept = undefined
  } catch {
    unkept = theme
  }
  showTheme(theme)
  window.dispatchEvent(new CustomEvent(THEME_CHANGED, { detail: theme }))
}

/** Shows a theme without keeping it. */
export function showTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
