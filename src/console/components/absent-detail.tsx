/** Detail panel without its record: still loading, removed or failed to load. */
import type { ComponentChildren } from 'preact';
import type { Failure } from '../api.ts';
import { FailureNote } from './failure-note.tsx';
import { Detail } from './list-detail.tsx';

interface AbsentDetailProps {
  readonly title: string;
  readonly closeTo: string;
  /** Null while loading. */
  readonly failure: Pick<Failure, 'status' | 'message'> | null;
  readonly onRetry?: (() => unknown) | undefined;
  readonly missing: ComponentChildren;
}

export function AbsentDetail({ title, closeTo, failure, onRetry, missing }: AbsentDetailProps) {
  return (
    <Detail title={title} closeTo={closeTo}>
      {failure === null ? (
        <div class="skeleton title" aria-busy="true" />
      ) : failure.status === 404 ? (
        <p>{missing}</p>
      ) : (
        <FailureNote failure={failure} onRetry={onRetry} />
      )}
    </Detail>
  );
}

interface UnlistedDetailProps {
  readonly title: string;
  readonly closeTo: string;
  readonly hasMore: boolean;
}

/** Detail panel of a record that only the list contains. */
export function UnlistedDetail({ title, closeTo, hasMore }: UnlistedDetailProps) {
  return (
    <Detail title={title} closeTo={closeTo}>
      <p>It is not in the list: it may have been removed{hasMore ? ', or is further down' : ''}.</p>
    </Detail>
  );
}
