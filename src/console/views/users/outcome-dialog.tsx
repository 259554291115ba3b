/** Result of a bulk change with refusals: how many, who and why. */
import { Button } from '../../../pages/components/button.tsx';
import { Dialog } from '../../../pages/components/dialog.tsx';
import { useCloseDialog } from '../../components/use-dialog.tsx';

interface LeftOutDialogProps {
  readonly text: string;
  readonly people: readonly { readonly userId: string; readonly email: string; readonly why: string | undefined }[];
}

export function LeftOutDialog({ text, people }: LeftOutDialogProps) {
  const close = useCloseDialog();
  return (
    <Dialog id="outcome" title="Some users were not changed" onClose={close}>
      <p class="lead">{text}</p>
      <ul class="outcomes" tabIndex={0} aria-label="Users who were not changed">
        {people.map(({ userId, email, why }) => (
          <li key={userId}>
            <span dir="auto">{email}</span>
            <span class="fine">{why}</span>
          </li>
        ))}
      </ul>
      <div class="dialog-actions">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}
