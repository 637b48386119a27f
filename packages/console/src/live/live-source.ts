/** Announces when an answer may have changed. */
export interface LiveSource {
  /** True while every change is announced; otherwise the answer is polled. */
  readonly isLive: boolean
  /**
   * Calls back on changes, with the milliseconds that the next request may be apart from the last if they
   * differ from the query's and true if the changes were too many to be sent, and when `isLive` changes, until
   * the returned function is called.
   */
  subscribe(
    onChange: (gapMs?: number, areSkipped?: boolean) => void,
    onState: () => void,
  ): () => void
}
