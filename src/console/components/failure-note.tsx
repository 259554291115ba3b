/** Why something is not shown, and a way to try again. */
import type { Failure } from '../api.ts';
import { Action } from './action.tsx';

export function FailureNote({ failure, onRetry }: { readonly failure: Failure; readonly onRetry?: () => unknown }) {
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
