import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import type { CandidateWorker } from '../domain/assign.ts'

/** Converts an offer; `used` is the stored load, if it has been read. */
export const toCandidateWorker = (offer: Offer, used = offer.used): CandidateWorker => ({
  worker_name: offer.worker_name,
  free: offer.capacity > 0 ? offer.capacity - used : Number.POSITIVE_INFINITY,
  used,
  facts: offer.facts,
  requirement_ids: new Set(offer.requirement_ids),
})
