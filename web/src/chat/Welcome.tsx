const questions = [
  'Reconcile all submissions from today against carrier guidelines and generate a report flagging discrepancies',
  'What percentage of extracted fields were edited by a human, per field per day, for June and July, for the Claims Intake workflow?',
  'Which submissions came in today?',
];

// Welcome is an empty conversation: what can be asked.
export function Welcome({ name, pick }: { name: string; pick: (question: string) => void }) {
  return (
    <div className="welcome">
      <h2>What should be looked into{name ? `, ${name.split(' ')[0]}` : ''}?</h2>
      <p className="quiet">Answers come from your organisation’s submissions, with the queries and pages behind every figure. Files can be dropped here.</p>
      <ul>
        {questions.map((q) => (
          <li key={q}>
            <button type="button" onClick={() => pick(q)}>
              {q}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
