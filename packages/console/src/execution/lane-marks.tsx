/**
 * Shapes that mark what happened to a call, each with its word, so that none is distinguished only by
 * colour.
 */
export const MARKS = {
  failed: { word: 'try failed', path: 'M2 2l6 6M8 2l-6 6' },
  retry: { word: 'next try begins', path: 'M3 1.5v7l5-3.5z' },
  rollback: { word: 'rollback', path: 'M8.5 8V5.5A2 2 0 0 0 6.5 3.5H1.5M4 1L1.5 3.5 4 6' },
  compensating: { word: 'compensates', path: 'M1.5 5h7M4.5 2l-3 3 3 3' },
  cached: { word: 'result reused', path: 'M5 1.2a3.8 3.8 0 1 0 .01 0zM5 4.2a.8.8 0 1 0 .01 0z' },
  fallback: { word: 'fallback', path: 'M1.5 1.5h7v7h-7zM5 1.5v7' },
} as const

export type MarkName = keyof typeof MARKS

export const MarkShape = ({ name }: { name: MarkName }) => (
  <svg class={`mark mark-${name}`} viewBox="0 0 10 10" aria-hidden="true">
    <path d={MARKS[name].path} />
  </svg>
)

/** The shapes with their words. */
export const MarkLegend = ({ names }: { names: readonly MarkName[] }) => (
  <ul class="legend marks-legend" aria-label="Marks">
    {names.map((name) => (
      <li key={name}>
        <MarkShape name={name} /> {MARKS[name].word}
      </li>
    ))}
  </ul>
)
