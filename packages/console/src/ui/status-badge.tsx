const TONES: Record<string, string | undefined> = {
  online: 'good',
  active: 'good',
  unhealthy: 'pause',
  paused: 'pause',
  offline: 'off',
}

/** The status of a worker or a schedule by shape, word and colour. */
export function StatusBadge({ status }: { status: string }) {
  const tone = TONES[status] ?? 'wait'
  return (
    <span class={`state tone-${tone}`}>
      <svg viewBox="0 0 14 14" aria-hidden="true">
        {tone === 'good' ? (
          <circle cx="7" cy="7" r="5" class="fill" />
        ) : tone === 'pause' ? (
          <path d="M7 1.5 13 12.5H1z" class="fill" />
        ) : (
          <circle cx="7" cy="7" r="5" class="line" />
        )}
      </svg>
      {status}
    </span>
  )
}
