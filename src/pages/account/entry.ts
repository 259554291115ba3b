import { hydratePage } from '../browser/hydrate.tsx';
import { AccountPage } from './page.tsx';

hydratePage(AccountPage);
