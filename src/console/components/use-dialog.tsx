/** State of a dialog, which closes itself. */
import { type IconNode, Plus } from 'lucide';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { Icon } from '../../pages/components/icon.tsx';
import { useFilters } from '../address.ts';
import { useRights } from '../console-context.tsx';
import { Action } from './action.tsx';

const CloseContext = createContext<() => void>(() => {});

export const useCloseDialog = () => useContext(CloseContext);

interface DialogState<Subject> {
  open(subject: Subject): void;
  /** To be rendered; null while closed. */
  readonly dialog: ComponentChildren;
}

/** @param render called while the dialog is open, with what it was opened for. */
export function useDialog<Subject = void>(render: (subject: Subject) => ComponentChildren): DialogState<Subject> {
  const [opened, setOpened] = useState<{ readonly subject: Subject } | null>(null);
  return {
    open: (subject) => setOpened({ subject }),
    dialog: opened && (
      <CloseContext.Provider value={() => setOpened(null)}>{render(opened.subject)}</CloseContext.Provider>
    ),
  };
}

interface CreateButton {
  readonly id: string;
  readonly text: string;
  readonly icon?: IconNode;
}

interface CreateDialog {
  readonly button: ComponentChildren;
  /** The same for an empty list below the button, without its id. */
  readonly emptyButton: ComponentChildren;
  readonly dialog: ComponentChildren;
}

/** A dialog and the button that opens it; `?new=1` in the address does too, for members who may write. */
export function useCreateDialog(
  { id, text, icon = Plus }: CreateButton,
  render: () => ComponentChildren,
): CreateDialog {
  const { canWrite } = useRights();
  const [filters, setFilters] = useFilters(['new']);
  const [isPressed, setIsPressed] = useState(false);
  const isOpen = isPressed || (canWrite && filters.new !== undefined);
  function close(): void {
    setIsPressed(false);
    if (filters.new !== undefined) setFilters({ new: undefined }, true);
  }
  const button = (elementId?: string) => (
    <Action
      {...(elementId && { id: elementId })}
      look="primary"
      icon={<Icon of={icon} size={16} />}
      onClick={() => setIsPressed(true)}
    >
      {text}
    </Action>
  );
  return {
    button: button(id),
    emptyButton: button(),
    dialog: isOpen && <CloseContext.Provider value={close}>{render()}</CloseContext.Provider>,
  };
}
