import { type Tone, viewOf } from '../format/states.ts'

/** A shape for each tone, so that states are not distinguished only by colour. */
function Shape({ tone }: { tone: Tone }) {
  if (tone === 'good')
    return (
      <>
        <circle cx="7" cy="7" r="6" class="fill" />
        <path d="M4.2 7.2 6.2 9.2 9.9 5" class="cut" />
      </>
    )
  if (tone === 'bad')
    return (
      <>
        <path d="M7 .6 13.4 7 7 13.4 .6 7z" class="fill" />
        <path d="M5 5l4 4M9 5l-4 4" class="cut" />
      </>
    )
  if (tone === 'pause')
    return (
      <>
        <rect x="1" y="1" width="12" height="12" rx="2.5" class="fill" />
        <path d="M5.3 4.5v5M8.7 4.5v5" class="cut" />
      </>
    )
  if (tone === 'off')
    return (
      <>
        <circle cx="7" cy="7" r="5.2" class="line" />
        <path d="M3.5 10.5 10.5 3.5" class="line" />
      </>
    )
  if (tone === 'run')
    return (
      <>
        <circle cx="7" cy="7" r="5.2" class="track" />
        <path d="M7 1.8A5.2 5.2 0 0 1 12.2 7" class="line spin" />
        <circle cx="7" cy="7" r="2" class="fill" />
      </>
    )
  return <circle cx="7" cy="7" r="5.2" class="line dashed" />
}

/** The state of an execution by shape, word and colour. */
export function StateBadge({ state, isLarge = false }: { state: string; isLarge?: boolean }) {
  const { word, tone, meaning } = viewOf(state)
  return (
    <span class={`state tone-${tone}${isLarge ? ' large' : ''}`} title={`${state}: ${meaning}`}>
      <svg viewBox="0 0 14 14" aria-hidden="true">
        <Shape tone={tone} />
      </svg>
      {word}
    </span>
  )
}
