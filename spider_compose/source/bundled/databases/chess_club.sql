CREATE TABLE Member (
  MemberID INTEGER PRIMARY KEY,
  FullName TEXT NOT NULL,
  Rating INTEGER,
  JoinDate DATE, -- date of joining
  Suburb TEXT,
  IsJunior TEXT -- junior
);
CREATE TABLE Tournament (
  TournamentID INTEGER PRIMARY KEY,
  Title TEXT NOT NULL,
  HeldOn DATE, -- date held
  Rounds INTEGER, -- number of rounds
  EntryFee REAL
);
CREATE TABLE Entry (
  TournamentID INTEGER REFERENCES Tournament(TournamentID),
  MemberID INTEGER REFERENCES Member(MemberID),
  Points REAL,
  FinalRank INTEGER,
  PRIMARY KEY (TournamentID, MemberID)
);
CREATE TABLE Game (
  GameID INTEGER PRIMARY KEY,
  TournamentID INTEGER REFERENCES Tournament(TournamentID),
  WhiteID INTEGER REFERENCES Member(MemberID), -- player with the white pieces
  BlackID INTEGER REFERENCES Member(MemberID), -- player with the black pieces
  Opening TEXT,
  Moves INTEGER, -- number of moves
  Result TEXT
);
INSERT INTO Member VALUES
 (1, 'Dorothea Pike', 1985, '2004-09-12', 'Eastgate', 'no'),
 (2, 'Raúl Ortega', 2140, '2011-01-20', 'Eastgate', 'no'),
 (3, 'Wendell Shaw', 1620, '2018-10-03', 'Mill End', 'no'),
 (4, 'Anya Volkova', 2215, '2015-05-15', 'Castle Hill', 'no'),
 (5, 'Kit O''Rourke', 1410, '2021-09-08', 'Mill End', 'yes'),
 (6, 'Salma Nasser', 1755, '2019-02-27', 'Brickfields', 'no'),
 (7, 'Theo Baptiste', 1590, '2022-03-16', 'Eastgate', 'yes'),
 (8, 'Margit Holm', 1870, '1998-11-01', 'Castle Hill', 'no'),
 (9, 'Ian Prosser', 1330, '2023-01-11', 'Brickfields', 'no'),
 (10, 'Lucy Zhang', 1945, '2020-10-21', 'Mill End', 'yes'),
 (11, 'Old Bill Tate', NULL, '1982-04-05', 'Castle Hill', 'no'),
 (12, 'Femi Adeyemi', 1705, '2017-06-30', 'Eastgate', 'no');
INSERT INTO Tournament VALUES
 (1, 'Spring Rapid', '2023-03-18', 6, 12.5),
 (2, 'Club Championship', '2023-05-06', 9, 20.0),
 (3, 'Midsummer Blitz', '2023-06-24', 11, 8.0),
 (4, 'Juniors'' Cup', '2023-09-02', 5, 0.0),
 (5, 'Autumn Open', '2023-10-14', 7, 25.0),
 (6, 'Christmas Swindle', '2023-12-16', 7, 10.0);
INSERT INTO Entry VALUES
 (1, 1, 4.0, 3), (1, 2, 5.5, 1), (1, 3, 2.0, 5), (1, 4, 5.0, 2), (1, 6, 3.0, 4),
 (2, 2, 6.5, 2), (2, 4, 8.0, 1), (2, 8, 5.0, 3), (2, 10, 4.5, 4), (2, 12, 3.0, 5),
 (3, 1, 7.5, 2), (3, 6, 6.0, 3), (3, 10, 9.0, 1), (3, 12, 4.0, 4),
 (4, 5, 2.5, 2), (4, 7, 2.0, 3), (4, 10, 5.0, 1),
 (5, 2, 5.0, 2), (5, 4, 6.0, 1), (5, 8, 4.0, 3), (5, 3, 1.5, 5), (5, 1, 3.5, 4);
INSERT INTO Game VALUES
 (1, 1, 2, 4, 'Sicilian Defence', 41, '1/2-1/2'),
 (2, 1, 1, 3, 'Queen''s Gambit', 28, '1-0'),
 (3, 1, 6, 2, 'London System', 35, '0-1'),
 (4, 2, 4, 2, 'Sicilian Defence', 57, '1-0'),
 (5, 2, 8, 10, 'King''s Indian', 62, '1/2-1/2'),
 (6, 2, 12, 4, 'French Defence', 33, '0-1'),
 (7, 2, 10, 12, 'Queen''s Gambit', 44, '1-0'),
 (8, 3, 10, 1, 'Ruy Lopez', 25, '1-0'),
 (9, 3, 6, 12, 'London System', 30, '1-0'),
 (10, 3, 1, 6, 'Ruy Lopez', 38, '1/2-1/2'),
 (11, 4, 5, 10, 'Italian Game', 19, '0-1'),
 (12, 4, 7, 5, 'Sicilian Defence', 22, '1/2-1/2'),
 (13, 5, 4, 8, 'Queen''s Gambit', 48, '1-0'),
 (14, 5, 3, 2, 'French Defence', 26, '0-1'),
 (15, 5, 2, 1, 'Sicilian Defence', 71, '1-0'),
 (16, 5, 8, 3, 'London System', 40, '1-0');
