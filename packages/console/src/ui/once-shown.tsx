import { CopyButton } from './copy-button.tsx'

/** A credential that the server shows once. */
export const OnceShown = ({ title, text }: { title: string; text: string }) => (
  <section class="card once-shown" aria-label={title} role="status">
    <h2>{title}</h2>
    <p>
      <code class="secret-text">{text}</code>{' '}
      <CopyButton text={text} label="Copy" name={`Copy: ${title}`} />
    </p>
    <p class="faint">It is shown this once. Keep it where only its user reads it.</p>
  </section>
)
