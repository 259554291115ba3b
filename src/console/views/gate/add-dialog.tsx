/** Dialog for adding addresses to the allowlist; names invalid ones. */
import { useState } from 'preact/hooks';
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome } from '../../api.ts';
import { ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { TextArea } from '../../components/text-area.tsx';
import { count, counted } from '../../components/words.ts';

const CALL_ADDRESSES = 500;

interface AddDialogProps {
  readonly applicationId: string;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

interface Added {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

export function AddDialog({ applicationId, onDone, onClose }: AddDialogProps) {
  const toast = useToast();
  const [text, setText] = useState('');
  const [status, setStatus] = useState<'approved' | 'pending'>('approved');
  const emails = addressesIn(text);
  return (
    <FormDialog<Added>
      id="add-dialog"
      title="Add addresses"
      lead="Nobody is mailed. Who is approved already stays so."
      submitText={emails.length > 1 ? `Add ${count(emails.length)} addresses` : 'Add address'}
      isIncomplete={emails.length === 0}
      send={() => add(applicationId, emails, status)}
      onDone={({ created, updated, unchanged }) => {
        const rest = [
          updated > 0 && `${count(updated)} changed`,
          unchanged > 0 && `${count(unchanged)} as before`,
        ].filter(Boolean);
        toast([`${counted(created, 'address', 'addresses')} added`, ...rest].join(', ') + '.');
        void onDone();
      }}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextArea
            id="add-emails"
            label="E-mail addresses"
            rows={6}
            value={text}
            placeholder="ada@example.com"
            hint="One a line, or with commas between."
            error={errorOf('emails')}
            onInput={setText}
          />
          <ChooseOne
            id="add-status"
            label="As"
            choices={[
              { value: 'approved', label: 'Approved', detail: 'They can sign in from now on.' },
              { value: 'pending', label: 'Pending', detail: 'They wait for a decision like those who asked.' },
            ]}
            chosen={status}
            onChange={setStatus}
          />
        </>
      )}
    </FormDialog>
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
async function add(
  applicationId: string,
  emails: readonly string[],
  status: 'approved' | 'pending',
): Promise<Outcome<Added>> {
  const sum = { created: 0, updated: 0, unchanged: 0 };
  for (let from = 0; from < emails.length; from += CALL_ADDRESSES) {
    const part = emails.slice(from, from + CALL_ADDRESSES);
    const outcome = await ask(
      api.POST('/api/applications/{id}/beta-interests', {
        params: { path: { id: applicationId } },
        body: { emails: part, status },
      }),
    );
    if (!outcome.ok) {
      const bad = outcome.fields.flatMap(({ path }) => part[Number(/^emails\.(\d+)$/.exec(path)?.[1])] ?? []);
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
