import { render } from 'preact'
import { App } from './shell/app.tsx'
import './styles/tokens.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/screens.css'

const root = document.getElementById('app')
if (root) render(<App />, root)
