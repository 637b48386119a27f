/** Line drawings of 16 by 16; decoration only, since each stands beside a word. */
const PATHS = {
  home: 'M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5M6.7 13V9.5h2.6V13',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  list: 'M2.5 4h1M2.5 8h1M2.5 12h1M6 4h7.5M6 8h7.5M6 12h7.5',
  flow: 'M3 2.5h4v3H3zM9 10.5h4v3H9zM5 5.5V12h4',
  play: 'M5 3.2v9.6l7.5-4.8z',
  worker: 'M3 3.5h10v4H3zM3 9h10v3.5H3zM5.2 5.5h.1M5.2 10.8h.1',
  queue: 'M2.5 4h11M2.5 8h8M2.5 12h5',
  check: 'M3 8.5 6.5 12 13 4.5',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3l2 1.5',
  key: 'M10.5 2.5a3 3 0 1 1-2.2 5L4 12H2.5v-2l4.6-4.6a3 3 0 0 1 3.4-2.9z',
  sliders: 'M2.5 5h6M11.5 5h2M10 3.5v3M2.5 11h2M7.5 11h6M6 9.5v3',
  people:
    'M6 3a2.2 2.2 0 1 1 0 4.4A2.2 2.2 0 0 1 6 3zM2 13c0-2.2 1.8-3.7 4-3.7S10 10.8 10 13M10.5 3.3a2 2 0 0 1 0 3.9M11.5 9.6c1.5.4 2.5 1.7 2.5 3.4',
  scroll: 'M4 2.5h7.5v11H4zM6 5.5h3.5M6 8h3.5M6 10.5h2',
  gear: 'M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 2v1.8M8 12.2V14M2 8h1.8M12.2 8H14M3.8 3.8l1.2 1.2M11 11l1.2 1.2M3.8 12.2 5 11M11 5l1.2-1.2',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.5 3.5',
  copy: 'M5.5 5.5h7.5v7.5H5.5zM3 10.5V3h7.5',
  stop: 'M4 4h8v8H4z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  again: 'M12.5 5A5.2 5.2 0 1 0 13 9M13 2.5V5.5H10',
  upload: 'M8 10.5V3M5 6l3-3 3 3M3 11v2h10v-2',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  warning: 'M8 2.5 14 13H2zM8 6.5v3M8 11.3v.1',
  lock: 'M4 7.5h8V13H4zM5.5 7.5V5.5a2.5 2.5 0 0 1 5 0v2',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
