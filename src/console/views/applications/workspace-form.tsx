/** Form for a workspace's name. */
import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import type { Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import type { Workspace } from '../../rights.tsx';

interface WorkspaceFormProps {
  readonly title: string;
  readonly lead?: string;
  readonly submitText: string;
  readonly name: string;
  readonly send: (name: string) => Promise<Outcome<Workspace>>;
  readonly onDone: (workspace: Workspace) => void;
  readonly onClose: () => void;
}

export function WorkspaceForm({ name: before, send, ...rest }: WorkspaceFormProps) {
  const [name, setName] = useState(before);
  return (
    <FormDialog
      id="workspace-form"
      isIncomplete={name.trim() === '' || name.trim() === before}
      send={() => send(name.trim())}
      {...rest}
    >
      {(errorOf) => (
        <Field
          id="workspace-name"
          label="Name"
          autoFocus
          autocomplete="off"
          maxLength={100}
          value={name}
          error={errorOf('name')}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}
