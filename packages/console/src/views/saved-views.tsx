import { useEffect, useRef, useState } from 'preact/hooks'
import { useQuery } from '../api/use-query.ts'
import { deleteView, listViews, type SavedView, saveView } from '../api/views.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { isPreconditionFailed } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { useAct } from '../ui/use-act.ts'
import { viewQuery } from './view-query.ts'

const MAX_NAME_CHARS = 100

interface Props {
  /** Path of the screen, under which its views are saved. */
  screen: string
  query: URLSearchParams
}

/** Views of a screen that the caller has saved: an address each, in every browser. */
export function SavedViews({ screen, query }: Props) {
  const { data, refresh } = useQuery('views', listViews)
  const { isBusy, failure, act } = useAct()
  const views = data?.filter((view) => view.screen === screen) ?? []
  const shown = viewQuery(query)
  const current = views.find((view) => viewQuery(new URLSearchParams(view.query)) === shown)
  const change = (request: () => Promise<unknown>) => act(() => request().then(refresh))
  const save = async (name: string, known: SavedView | undefined) => {
    let taken: SavedView | undefined
    await act(async () => {
      try {
        await saveView({ name, screen, query: shown }, known)
      } catch (error) {
        if (!isPreconditionFailed(error)) throw error
        taken = (await listViews()).find((view) => view.name === name)
        if (taken) return
        // Deleted meanwhile: there is nothing left that would be overwritten.
        await saveView({ name, screen, query: shown }, undefined)
      }
      refresh()
    })
    return taken
  }
  const isSavable = data !== undefined && shown !== '' && !current
  if (views.length === 0 && !isSavable) return null
  return (
    <div class="filters">
      {views.length > 0 && (
        <nav class="chips" aria-label="Saved views">
          {views.map((view) => (
            <Link
              key={view.name}
              to={`${screen}?${view.query}`}
              class="chip"
              aria-current={view === current ? 'true' : undefined}
            >
              <bdi>{view.name}</bdi>
            </Link>
          ))}
        </nav>
      )}
      {current && (
        <button
          type="button"
          class="quiet"
          aria-label={`Delete the view ${current.name}`}
          disabled={isBusy}
          onClick={() => change(() => deleteView(current.name))}
        >
          <Icon name="close" /> Delete the view
        </button>
      )}
      {isSavable && <SaveForm isBusy={isBusy} onSave={save} />}
      <FailureText text={failure} />
    </div>
  )
}

interface SaveProps {
  isBusy: boolean
  /**
   * Saves the view, in the place of the known one. Returns the view that has the name, and saves nothing, if it is
   * another one, or the known one has changed.
   */
  onSave: (name: string, known: SavedView | undefined) => Promise<SavedView | undefined>
}

function SaveForm({ isBusy, onSave }: SaveProps) {
  /** Undefined until it is opened first. */
  const [isOpen, setOpen] = useState<boolean>()
  const opener = useRef<HTMLButtonElement>(null)
  const field = useRef<HTMLInputElement>(null)
  // The control that had the focus is replaced.
  useEffect(() => {
    if (isOpen) field.current?.focus()
    else if (isOpen === false) opener.current?.focus()
  }, [isOpen])
  const [typed, setTyped] = useState('')
  /** The view of the same name that was found when this one was to be saved. */
  const [taken, setTaken] = useState<SavedView>()
  /** True if it was found a second time, with another state. */
  const [isChanged, setChanged] = useState(false)
  if (!isOpen)
    return (
      <button type="button" class="quiet" ref={opener} onClick={() => setOpen(true)}>
        <Icon name="plus" /> Save this view
      </button>
    )
  const name = typed.trim()
  const known = taken?.name === name ? taken : undefined
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (name === '') return
    // The form goes with the success; after a refusal the name can be changed.
    const found = await onSave(name, known)
    if (!found) return
    setChanged(known !== undefined)
    setTaken(found)
  }
  return (
    <form
      class="filters"
      aria-label="Save this view"
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
    >
      <label class="text-filter">
        <span>Name of the view</span>
        <input
          name="name"
          ref={field}
          required
          maxLength={MAX_NAME_CHARS}
          autoComplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={isBusy}>
        {known ? 'Replace' : 'Save'}
      </button>
      <button type="button" class="quiet" onClick={() => setOpen(false)}>
        Do not save
      </button>
      <p role="status">
        {known && (
          <>
            {isChanged
              ? 'The view with this name was changed elsewhere meanwhile. '
              : 'You have a view with this name. '}
            <Link to={`${known.screen}?${known.query}`}>Load it</Link>, replace it, or choose
            another name.
          </>
        )}
      </p>
    </form>
  )
}
