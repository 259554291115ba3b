/** Downloads all data about the reader as one file. */
import { Download } from 'lucide';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account-context.tsx';

interface AccountExport {
  readonly exportedAt: string;
}

export function ExportSection() {
  const text = useTexts();
  const toast = useToast();
  const { api, fail, withProof } = useAccount();
  const [isAtWork, setIsAtWork] = useState(false);

  async function download(): Promise<void> {
    if (isAtWork) return;
    setIsAtWork(true);
    const outcome = await withProof({ purpose: 'account_export' }, () => api.get<AccountExport>('/api/account/export'));
    setIsAtWork(false);
    if (outcome === null) return;
    if (!outcome.ok) return fail(outcome);
    const { data } = outcome;
    save(`account-export-${data.exportedAt.slice(0, 10)}.json`, JSON.stringify(data, null, 2));
    toast(text('account.export.done'));
  }

  return (
    <Section id="export" title={text('account.export.title')} lead={text('account.export.lead')}>
      <div class="settings-actions">
        <Button
          id="download-export"
          look="small"
          icon={<Icon of={Download} size={16} />}
          busyText={isAtWork && text('account.export.working')}
          onClick={() => void download()}
        >
          {text('account.export.button')}
        </Button>
      </div>
    </Section>
  );
}

function save(name: string, json: string): void {
  const url = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Delayed, because some browsers read the URL after the click handler has finished.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
