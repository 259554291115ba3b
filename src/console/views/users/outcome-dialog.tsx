/** Result of a bulk change with refusals: how many, who and why. */
import { Button } from '../../../pages/components/button.tsx';
import { Dialog } from '../../../pages/components/dialog.tsx';
import { useCloseDialog } from '../../components/use-dialog.tsx';
import { leftOut, summaryOf, type UserResult } from './changes.ts';

interface OutcomeDialogProps {
  readonly results: readonly UserResult[];
  readonly done: string;
  readonly emailOf: (userId: string) => string;
}

export function OutcomeDialog({ results, done, emailOf }: OutcomeDialogProps) {
  const close = useCloseDialog();
  return (
    <Dialog id="outcome" title="Not everybody was changed" onClose={close}>
      <p class="lead">{summaryOf(results, done)}</p>
      <ul class="outcomes" tabIndex={0} aria-label="Who was left out">
        {leftOut(results).map(({ userId, outcome, message }) => (
          <li key={userId}>
            <span dir="auto">{emailOf(userId)}</span>
            <span class="fine">{outcome === 'not_found' ? 'No longer here.' : message}</span>
          </li>
        ))}
      </ul>
      <div class="dialog-actions">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}
