import { render } from 'preact'
import { App } from './shell/app.tsx'
import './styles/tokens.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/screens.css'
import './styles/modes.css'

const root = document.getElementById('app')
if (root) {
  render(<App />, root)
  // A page that the browser keeps for the back button (bfcache) may be restored after the session has ended. The
  // answers of the server forbid that; a proxy may drop their headers, and not every browser respects them.
  window.addEventListener('pagehide', ({ persisted }) => {
    if (persisted) render(null, root)
  })
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) window.location.reload()
  })
}
