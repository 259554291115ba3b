import type { Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import type { Workspace } from '../../console-context.tsx';

interface WorkspaceFormProps {
  readonly title: string;
  readonly lead?: string;
  readonly name: string;
  readonly send: (name: string) => Promise<Outcome<Workspace>>;
  readonly onDone: (workspace: Workspace) => unknown;
}

export function WorkspaceForm({ name: before, send, ...rest }: WorkspaceFormProps) {
  const form = useForm({ name: before });
  const name = form.values.name.trim();
  return (
    <FormDialog
      id="workspace-form"
      submitText={rest.title}
      isIncomplete={name === '' || name === before}
      form={form}
      fields={[{ kind: 'text', id: 'workspace-name', name: 'name', label: 'Name', maxLength: 100 }]}
      send={() => send(name)}
      {...rest}
    />
  );
}
