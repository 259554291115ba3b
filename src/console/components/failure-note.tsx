/** Explains why something did not load, with a retry button. */
import type { Failure } from '../api.ts';
import { Action } from './action.tsx';

interface FailureNoteProps {
  readonly failure: Pick<Failure, 'message'>;
  readonly onRetry?: (() => unknown) | undefined;
}

export function FailureNote({ failure, onRetry }: FailureNoteProps) {
  return (
    <div class="failure" role="alert">
      <p>{failure.message}</p>
      {onRetry && (
        <Action needs="nothing" onClick={onRetry}>
          Try again
        </Action>
      )}
    </div>
  );
}
