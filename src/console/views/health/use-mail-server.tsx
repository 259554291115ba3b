/** Opens the dialogs that set and remove the instance's mail server. */
import type { ComponentChildren } from 'preact';
import { api, ask, type Schemas } from '../../api.ts';
import { useReport } from '../../components/action.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useConsole } from '../../console-context.tsx';
import { MailServerForm, RemoveMailServer } from './mail-server-form.tsx';

interface MailServerDialogs {
  /** Loads what is set, then opens the form. */
  edit(): Promise<void>;
  remove(): void;
  readonly dialogs: ComponentChildren;
}

/** @param onChanged called once the server has kept or removed it. */
export function useMailServer(onChanged: () => unknown): MailServerDialogs {
  const { workspace } = useConsole();
  const report = useReport();
  const form = useDialog((set: Schemas['MailServer']) => (
    <MailServerForm
      set={set}
      onDone={(server) => {
        report({ ok: true, data: server }, `Mail is sent by ${server.server ?? 'the mail server'} now.`);
        onChanged();
      }}
    />
  ));
  const removal = useDialog(() => <RemoveMailServer onDone={onChanged} />);
  return {
    async edit() {
      const params = { query: { workspaceId: workspace.id } };
      const outcome = await ask(api.GET('/api/workspace/mail/server', { params }));
      if (report(outcome)) form.open(outcome.data);
    },
    remove: removal.open,
    dialogs: (
      <>
        {form.dialog}
        {removal.dialog}
      </>
    ),
  };
}
