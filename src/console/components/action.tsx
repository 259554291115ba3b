/** Button that shows progress, and is disabled with a reason if the member lacks the right. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { useToast } from '../../pages/components/toast.tsx';
import type { Outcome } from '../api.ts';
import { type Needs, useWhyNot } from '../console-context.tsx';

interface ActionProps {
  readonly id?: string;
  /** Accessible name, where the text alone does not say what it acts on. It begins with the text. */
  readonly label?: string;
  readonly look?: 'primary' | 'plain' | 'small' | 'danger';
  readonly icon?: ComponentChildren;
  /** Right required; by default `write`. */
  readonly needs?: Needs;
  readonly isDisabled?: boolean;
  readonly onClick: () => unknown;
  readonly children: ComponentChildren;
}

export function Action({ look = 'small', needs = 'write', isDisabled = false, label, onClick, ...rest }: ActionProps) {
  const [isBusy, setIsBusy] = useState(false);
  const whyNot = useWhyNot(needs);

  async function act(): Promise<void> {
    if (isBusy) return;
    setIsBusy(true);
    try {
      await onClick();
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <Button
      {...rest}
      look={look}
      aria-label={label}
      title={whyNot}
      disabled={isDisabled || whyNot !== undefined}
      isBusy={isBusy}
      onClick={() => void act()}
    />
  );
}

/** Returns a function that shows the success sentence or the server's reason. @returns whether it succeeded. */
export function useReport(): <T>(outcome: Outcome<T>, done?: string) => outcome is Extract<Outcome<T>, { ok: true }> {
  const toast = useToast();
  return <T,>(outcome: Outcome<T>, done?: string): outcome is Extract<Outcome<T>, { ok: true }> => {
    if (!outcome.ok) toast(outcome.message, 'bad');
    else if (done !== undefined) toast(done);
    return outcome.ok;
  };
}
