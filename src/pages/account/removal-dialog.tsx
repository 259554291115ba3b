/** Confirms removing a sign-in method and optionally ends all other sessions. */
import { Checkbox } from '../components/checkbox.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { useTexts } from '../components/texts.tsx';
import type { Removal } from './use-removal.ts';

interface RemovalDialogProps {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly confirmText: string;
  readonly busyText: string;
  readonly removal: Removal;
  onConfirm(): Promise<void>;
  onClose(): void;
}

export function RemovalDialog({ removal, confirmText, ...dialog }: RemovalDialogProps) {
  const text = useTexts();
  return (
    <ConfirmDialog
      {...dialog}
      warning={removal.warning}
      confirmText={removal.isForced ? text('account.lastWayInConfirm') : confirmText}
    >
      <Checkbox
        id={`${dialog.id}-end-others`}
        label={text('account.endOtherSessions')}
        isChecked={removal.isEndingOthers}
        onChange={removal.setIsEndingOthers}
      />
    </ConfirmDialog>
  );
}
