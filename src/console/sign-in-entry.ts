import { hydratePage } from '../pages/browser/hydrate.tsx';
import { ConsoleSignInPage } from './sign-in-page.tsx';

hydratePage(ConsoleSignInPage);
