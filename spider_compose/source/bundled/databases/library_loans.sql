CREATE TABLE branch (
  branch_id INTEGER PRIMARY KEY,
  branch_name TEXT NOT NULL,
  district TEXT,
  opened INTEGER -- opening year
);
CREATE TABLE book (
  book_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  author TEXT,
  genre TEXT,
  published INTEGER, -- year of publication
  pages INTEGER -- number of pages
);
CREATE TABLE reader (
  reader_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  age INTEGER,
  member_since DATE,
  email TEXT
);
CREATE TABLE loan (
  loan_id INTEGER PRIMARY KEY,
  book_id INTEGER REFERENCES book(book_id),
  reader_id INTEGER REFERENCES reader(reader_id),
  branch_id INTEGER REFERENCES branch(branch_id),
  borrowed DATE, -- date borrowed
  returned DATE, -- date returned
  fine REAL
);
INSERT INTO branch VALUES
 (1, 'Central', 'Old Town', 1902),
 (2, 'Canal Street', 'Docklands', 1974),
 (3, 'Maple Park', 'Northfields', 1988),
 (4, 'St. Aldhelm''s', 'Old Town', 1931),
 (5, 'The Hive', 'Northfields', 2014),
 (6, 'Station Kiosk', 'Docklands', 2021);
INSERT INTO book VALUES
 (1, 'The Clockmaker''s Orchard', 'Della Winterbourne', 'fiction', 2011, 342),
 (2, 'Salt and Iron', 'Marcus Yeo', 'history', 1998, 518),
 (3, 'Bees of the Border', 'Ffion Rees', 'nature', 2017, 210),
 (4, 'Nine Quiet Murders', 'A. J. Trask', 'crime', 2004, 288),
 (5, 'The Tenth Murder', 'A. J. Trask', 'crime', 2008, 301),
 (6, 'A Field Guide to Clouds', 'Ffion Rees', 'nature', 2021, 164),
 (7, 'Harbour Songs', 'Idris Cole', 'poetry', 1987, 96),
 (8, 'Empire of Tea', 'Marcus Yeo', 'history', 2013, 640),
 (9, 'Midnight on Mars', 'Lena Okonkwo', 'fiction', 2019, 415),
 (10, 'Small Hours', 'Idris Cole', 'poetry', 1995, 72),
 (11, 'Dust Road', 'Della Winterbourne', 'fiction', 1999, 268),
 (12, 'The Mapmaker', 'Hugo Sands', 'crime', 2022, 377),
 (13, 'Bread for Beginners', 'Paula Greco', 'cookery', 2016, 190);
INSERT INTO reader VALUES
 (1, 'Winifred Oakes', 71, '1998-03-02', 'w.oakes@post.example'),
 (2, 'Jamal Carter', 34, '2012-07-19', 'jamal@post.example'),
 (3, 'Sofia Lindholm', 19, '2021-10-05', 'sofia.l@mail.example'),
 (4, 'Peter O''Grady', 45, '2006-01-30', NULL),
 (5, 'Nkechi Obi', 28, '2019-05-14', 'nkechi@mail.example'),
 (6, 'Arthur Penrose', 66, '2001-11-22', NULL),
 (7, 'Mei-Ling Zhou', 12, '2020-09-09', 'mlz@post.example'),
 (8, 'Rosa Delgado', 53, '2015-02-17', 'rosa.d@mail.example'),
 (9, 'Timothy Vale', 16, '2022-01-08', 'tim@mail.example'),
 (10, 'Greta Ström', 39, '2010-08-25', 'greta@post.example'),
 (11, 'Barnaby Finch', 80, '1993-06-01', NULL);
INSERT INTO loan VALUES
 (1, 1, 2, 1, '2023-01-05', '2023-01-19', 0.0),
 (2, 2, 1, 1, '2023-01-09', '2023-02-20', 2.4),
 (3, 4, 6, 4, '2023-01-16', '2023-01-30', 0.0),
 (4, 5, 6, 4, '2023-01-30', '2023-02-27', 0.9),
 (5, 3, 8, 3, '2023-02-03', '2023-02-15', 0.0),
 (6, 9, 3, 5, '2023-02-11', '2023-03-25', 3.0),
 (7, 9, 9, 5, '2023-04-01', '2023-04-14', 0.0),
 (8, 6, 7, 3, '2023-04-06', '2023-04-20', 0.0),
 (9, 8, 1, 1, '2023-04-17', '2023-06-10', 5.1),
 (10, 1, 5, 2, '2023-04-22', '2023-05-04', 0.0),
 (11, 12, 2, 2, '2023-05-02', '2023-05-29', 1.2),
 (12, 4, 8, 1, '2023-05-08', '2023-05-21', 0.0),
 (13, 12, 10, 5, '2023-05-31', '2023-06-28', 1.5),
 (14, 7, 1, 4, '2023-06-06', '2023-06-18', 0.0),
 (15, 11, 5, 2, '2023-06-12', '2023-07-01', 0.6),
 (16, 9, 10, 1, '2023-07-03', NULL, NULL),
 (17, 13, 8, 3, '2023-07-08', '2023-07-20', 0.0),
 (18, 12, 3, 5, '2023-07-11', NULL, NULL),
 (19, 3, 7, 3, '2023-07-15', '2023-07-29', 0.0),
 (20, 6, 2, 1, '2023-07-21', '2023-08-30', 2.2),
 (21, 9, 5, 1, '2023-08-02', '2023-08-16', 0.0);
