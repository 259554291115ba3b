/** Edit and remove buttons of a profile entry, labelled with its name for screen readers. */
import { Button } from '../components/button.tsx';
import { useTexts } from '../components/texts.tsx';

interface EditActionsProps {
  readonly name: string;
  onEdit(): void;
  onRemove(): void;
}

export function EditActions({ name, onEdit, onRemove }: EditActionsProps) {
  const text = useTexts();
  const label = (action: string) => text('account.actionFor', { action, name });
  return (
    <div class="row-actions">
      <Button look="small" aria-label={label(text('account.edit'))} onClick={onEdit}>
        {text('account.edit')}
      </Button>
      <Button look="small" aria-label={label(text('account.remove'))} onClick={onRemove}>
        {text('account.remove')}
      </Button>
    </div>
  );
}
