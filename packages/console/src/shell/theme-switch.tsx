import { useEffect, useState } from 'preact/hooks'

const KEY = 'windlass-theme'
const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

/** The kept choice; `system` where the browser forbids storage. */
function keptTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}

function keepTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // It lasts until the page is left.
  }
}

/** Light, dark, or as the system has it. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(keptTheme)
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
  }, [theme])
  return (
    <label class="theme">
      <span>Theme</span>
      <select
        value={theme}
        onChange={(event) => {
          const chosen = THEMES.find((one) => one === event.currentTarget.value) ?? 'system'
          keepTheme(chosen)
          setTheme(chosen)
        }}
      >
        {THEMES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  )
}
