import { useEffect, useState } from 'preact/hooks'
import { chooseTheme, keptTheme, showTheme, THEME_CHANGED, THEMES, type Theme } from './theme.ts'

/** Light, dark, or as the system has it. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(keptTheme)
  useEffect(() => {
    showTheme(keptTheme())
    const update = (event: Event) => setTheme((event as CustomEvent<Theme>).detail)
    window.addEventListener(THEME_CHANGED, update)
    return () => window.removeEventListener(THEME_CHANGED, update)
  }, [])
  return (
    <label class="theme">
      <span>Theme</span>
      <select
        value={theme}
        onChange={(event) =>
          chooseTheme(THEMES.find((one) => one === event.currentTarget.value) ?? 'system')
        }
      >
        {THEMES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  )
}
