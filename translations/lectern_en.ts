<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>lectern::ErrorText</name>
    <message numerus="yes">
        <source>%Ln byte(s) left out, since no token of the vocabulary stands for it: %1</source>
        <translation>
            <numerusform>%Ln byte left out, since no token of the vocabulary stands for it: %1</numerusform>
            <numerusform>%Ln bytes left out, since no token of the vocabulary stands for them: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::ExportActions</name>
    <message numerus="yes">
        <source>%n file(s) written to %1</source>
        <translation>
            <numerusform>%n file written to %1</numerusform>
            <numerusform>%n files written to %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Writing was cancelled. %n file(s) left out of %1: %2. What was already done is kept.</source>
        <comment>%1 is a folder, %2 names of files</comment>
        <translation>
            <numerusform>Writing was cancelled. %n file left out of %1: %2. What was already done is kept.</numerusform>
            <numerusform>Writing was cancelled. %n files left out of %1: %2. What was already done is kept.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::HelpWindow</name>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::KvChart</name>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <comment>held in the cache</comment>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::PromptCountsText</name>
    <message numerus="yes">
        <source>%n word(s)</source>
        <translation>
            <numerusform>%n word</numerusform>
            <numerusform>%n words</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n character</numerusform>
            <numerusform>%n characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::PromptPane</name>
    <message numerus="yes">
        <source>Sent to the model: %Ln token(s)</source>
        <translation>
            <numerusform>Sent to the model: %Ln token</numerusform>
            <numerusform>Sent to the model: %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Prompt of “%1”: %Ln token(s)</source>
        <translation>
            <numerusform>Prompt of “%1”: %Ln token</numerusform>
            <numerusform>Prompt of “%1”: %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n invalid character(s) replaced</source>
        <translation>
            <numerusform>%n invalid character replaced</numerusform>
            <numerusform>%n invalid characters replaced</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::RunChart</name>
    <message numerus="yes">
        <source>+ %n more</source>
        <comment>runs without room in the legend</comment>
        <translation>
            <numerusform>+ %n more</numerusform>
            <numerusform>+ %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 and %n more run(s)</source>
        <translation>
            <numerusform>%1 and %n more run</numerusform>
            <numerusform>%1 and %n more runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::RunStatusBar</name>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation>
            <numerusform>%n thread</numerusform>
            <numerusform>%n threads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::RunTableModel</name>
    <message numerus="yes">
        <source>%1 · %n threads</source>
        <translation>
            <numerusform>%1 · %n thread</numerusform>
            <numerusform>%1 · %n threads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::TimelineChart</name>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>+ %n more run(s)</source>
        <comment>that have no room in the chart</comment>
        <translation>
            <numerusform>+ %n more run</numerusform>
            <numerusform>+ %n more runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lectern::TokenToolTip</name>
    <message numerus="yes">
        <source>One character made of %n tokens</source>
        <translation>
            <numerusform>One character made of %n token</numerusform>
            <numerusform>One character made of %n tokens</numerusform>
        </translation>
    </message>
</context>
</TS>
