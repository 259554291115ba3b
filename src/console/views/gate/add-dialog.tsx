/** Dialog for adding addresses to the allowlist; names invalid ones. */
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { count, counted } from '../../components/format.ts';

const CALL_ADDRESSES = 500;

interface AddDialogProps {
  readonly applicationId: string;
  readonly onDone: () => unknown;
}

interface Added {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

type AddedStatus = 'approved' | 'pending';

export function AddDialog({ applicationId, onDone }: AddDialogProps) {
  const toast = useToast();
  const form = useForm({ text: '', status: 'approved' as AddedStatus });
  const { text, status } = form.values;
  const emails = addressesIn(text);
  return (
    <FormDialog
      id="add-dialog"
      title="Add addresses"
      lead="Nobody is mailed. Approved addresses stay approved."
      submitText={emails.length > 1 ? `Add ${count(emails.length)} addresses` : 'Add address'}
      isIncomplete={emails.length === 0}
      form={form}
      fields={[
        {
          kind: 'textarea',
          id: 'add-emails',
          name: 'text',
          path: 'emails',
          label: 'E-mail addresses',
          rows: 6,
          placeholder: 'ada@example.com',
          hint: 'One per line, or separated by commas.',
        },
        {
          kind: 'choice',
          id: 'add-status',
          name: 'status',
          label: 'As',
          choices: [
            { value: 'approved', label: 'Approved', detail: 'They can sign in from now on.' },
            { value: 'pending', label: 'Pending', detail: 'They wait for a decision, like people who asked.' },
          ],
        },
      ]}
      send={() => add(applicationId, emails, status)}
      onDone={({ created, updated, unchanged }) => {
        const rest = [
          updated > 0 && `${count(updated)} changed`,
          unchanged > 0 && `${count(unchanged)} unchanged`,
        ].filter(Boolean);
        toast([`${counted(created, 'address', 'addresses')} added`, ...rest].join(', ') + '.');
        onDone();
      }}
    />
  );
}

/** Extracts addresses, also from `Ada Lovelace <ada@example.com>` as mail programs copy them. */
function addressesIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(/[\n,;]+/)
        .flatMap((part) => /<([^<>]+)>/.exec(part)?.[1] ?? part.trim().split(/\s+/))
        .filter(Boolean),
    ),
  ];
}

/** Sends addresses in batches. Each batch is atomic; earlier ones stay added when a later one fails. */
async function add(applicationId: string, emails: readonly string[], status: AddedStatus): Promise<Outcome<Added>> {
  const params = { path: { id: applicationId } };
  const sum = { created: 0, updated: 0, unchanged: 0 };
  for (let from = 0; from < emails.length; from += CALL_ADDRESSES) {
    const batch = emails.slice(from, from + CALL_ADDRESSES);
    const body = { emails: batch, status };
    const outcome = await ask(api.POST('/api/applications/{id}/beta-interests', { params, body }));
    if (!outcome.ok) {
      const bad = outcome.fields.flatMap(({ path }) => batch[Number(/^emails\.(\d+)$/.exec(path)?.[1])] ?? []);
      if (bad.length === 0) return outcome;
      const message = `${bad.map((one) => `“${one}”`).join(', ')} ${bad.length === 1 ? 'is no e-mail address' : 'are no e-mail addresses'}. ${from === 0 ? 'Nobody was added.' : `The first ${count(from)} were added.`}`;
      return { ...outcome, fields: [{ path: 'emails', message }] };
    }
    const { created, updated, unchanged } = outcome.data.summary;
    sum.created += created;
    sum.updated += updated;
    sum.unchanged += unchanged;
  }
  return { ok: true, data: sum };
}
