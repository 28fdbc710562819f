import { Page } from '../parts/Page';
import { Empty } from '../parts/States';

// Everything below /runs.
export default function Runs() {
  return (
    <Page title="Runs">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
